// The writing half of a connection: responses, and how a connection ends after them.

#include <boost/asio/write.hpp>

#include "serve/http/http_connection.h"

namespace heed::serve {
namespace {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;
using Clock = std::chrono::steady_clock;

constexpr size_t kWriteBytes = 64 << 10;
/// At most this much of a rejected request is read and discarded, so that the client can read the response.
constexpr size_t kDiscardedBytes = 8 << 20;
constexpr double kDiscardSeconds = 2;
/// Responses up to this size do not count against the limit of all: errors, and most others.
constexpr size_t kAlwaysHeldBytes = 64 << 10;

}  // namespace

void HttpConnection::prepare_head(int status) {
  record_.status = status;
  framing_.request_id = record_.id;
  framing_.headers = &shared_.options.headers;
  if (shared_.draining || ended_) framing_.keep_alive = false;
  response_.set_framing(framing_);
}

void HttpConnection::hold(size_t bytes) {
  shared_.held += bytes - held_;
  held_ = bytes;
}

bool HttpConnection::can_hold(size_t more) const {
  return held_ + more <= kAlwaysHeldBytes || shared_.held + more <= shared_.options.answer_bytes;
}

void HttpConnection::send(uint64_t number, const HttpResponse& response) {
  if (!answers(number) || response_.is_complete()) return;
  if (response_.has_begun()) return close();  // too late for an error
  if (!can_hold(response.body.size())) {
    HttpResponse busy = error_response(503, kTooManyAnswers);
    busy.headers.emplace_back("Retry-After", "5");
    return send(number, busy);
  }
  prepare_head(response.status);
  response_.send(response);
  hold(response_.size());
  if (!writing_) write_some();
}

void HttpConnection::begin(uint64_t number, const HttpResponse& head) {
  if (!answers(number) || response_.has_begun()) return;
  prepare_head(head.status);
  response_.begin(head);
  hold(response_.size());
  if (!writing_) write_some();
}

/// A response that has begun can no longer become an error, so its connection is closed.
void HttpConnection::write(uint64_t number, std::string_view part) {
  if (!answers(number)) return;
  if (!can_hold(part.size())) return close();
  if (!response_.write(part)) return;
  hold(response_.size());
  if (!writing_) write_some();
}

void HttpConnection::end(uint64_t number) {
  if (answers(number) && response_.end() && !writing_) write_some();
}

void HttpConnection::drop(uint64_t number) {
  send(number, error_response(500, "the request was dropped"));
}

void HttpConnection::write_some() {
  const std::string_view pending = response_.pending();
  if (pending.empty()) {
    timer_.cancel();
    stage_ = Stage::kHandling;
    if (response_.is_complete()) finish();
    return;
  }
  writing_ = true;
  set_deadline(Stage::kWriting, shared_.options.write_seconds);
  // The time is for all of it. The buffer being written must not move while chunks are added.
  auto chunk = std::make_shared<std::string>(pending.substr(0, kWriteBytes));
  asio::async_write(socket_, asio::buffer(*chunk),
                    then([this, chunk](ErrorCode error, size_t bytes) { on_written(error, bytes); }));
}

void HttpConnection::on_written(ErrorCode error, size_t bytes) {
  writing_ = false;
  if (error) {
    *gone_ = true;
    return close();
  }
  response_.mark_sent(bytes);
  hold(response_.size());
  record_.bytes_out += bytes;
  write_some();
}

void HttpConnection::report() {
  if (!handling_ && record_.status == 0) return;
  record_.seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
  record_.gone = *gone_;
  if (record_.status == 0) record_.status = 499;
  try {
    shared_.done(record_);
  } catch (const std::exception&) {
    // Memory has run out: the request is missing in the log and the metrics.
  }
  handling_ = false;
  record_ = {};
}

void HttpConnection::finish() {
  report();
  if (!response_.keep_alive() || ended_) {
    ErrorCode ignored;
    socket_.shutdown(Tcp::socket::shutdown_send, ignored);
    if (!discard_) return close();
    set_deadline(Stage::kDiscarding, kDiscardSeconds);
    return discard(kDiscardedBytes);
  }
  if (!watching_) return next_request();
  stop_watching_ = true;
  socket_.cancel();
}

void HttpConnection::discard(size_t left) {
  buffer_.clear();
  socket_.async_read_some(buffer_.prepare(kWriteBytes), then([this, left](ErrorCode error, size_t bytes) {
                            if (error || bytes >= left) return close();
                            discard(left - bytes);
                          }));
}

}  // namespace heed::serve
