#include "serve/http/http_connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/write.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <boost/beast/http/string_body.hpp>

#include "base/text/ascii.h"
#include "text/unicode/utf8.h"

namespace heed::serve {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using Tcp = asio::ip::tcp;
using Clock = std::chrono::steady_clock;

/// Pipelined requests are buffered up to this size; then reading pauses until they are answered.
constexpr size_t kReadAheadBytes = 64 << 10;

constexpr size_t kReadBytes = 16 << 10;
/// Bodies up to this size do not depend on those of other requests.
constexpr size_t kAlwaysReceivedBytes = 64 << 10;

/// Whether the head of a request has a header that continues on the next line.
bool is_folded(std::string_view head) {
  return head.find("\n ") != std::string_view::npos || head.find("\n\t") != std::string_view::npos;
}

/// Whether the connection stays open after the request. Also where several Connection headers say something:
/// Beast's head.keep_alive() reads the first one.
bool keeps_alive(const http::request<http::string_body>& head) {
  const auto [begin, end] = head.equal_range(http::field::connection);
  const auto says = [&, begin = begin, end = end](const char* option) {
    return std::any_of(begin, end,
                       [&](const auto& field) { return http::token_list(field.value()).exists(option); });
  };
  return !says("close") && (head.version() >= 11 || says("keep-alive"));
}

/// Whether a client's X-Request-Id is safe in a log and in a header.
bool is_request_id(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::ranges::all_of(text, [](char c) {
    return is_ascii_alphanumeric(c) || c == '-' || c == '_' || c == '.';
  });
}

/// The path and query of a target in absolute form, "http://host/path?query", which proxies receive.
std::string_view origin_form(std::string_view target) {
  const size_t scheme = target.find("://");
  if (target.starts_with('/') || scheme == std::string_view::npos) return target;
  const size_t slash = target.find('/', scheme + 3);
  return slash == std::string_view::npos ? "/" : target.substr(slash);
}

}  // namespace

struct HttpConnection::Parser : http::request_parser<http::string_body> {};

HttpConnection::HttpConnection(HttpConnections& shared, Tcp::socket socket)
    : shared_(shared), socket_(std::move(socket)), timer_(shared.io), begin_(Clock::now()) {
  ErrorCode ignored;
  const auto end = socket_.remote_endpoint(ignored);
  address_ = end.address().to_string(ignored);
  socket_.set_option(Tcp::no_delay(true), ignored);
}

HttpConnection::~HttpConnection() = default;

// ---- Reading ----------------------------------------------------------------------------------------------

void HttpConnection::next_request() {
  handling_ = false;
  response_.reset();
  hold(0);
  framing_ = {};
  timed_out_ = false;
  record_ = {};
  record_.address = address_;
  ++number_;
  const bool first = number_ == 1;
  begin_ = Clock::now();
  if (has_begun()) {
    set_deadline(Stage::kHead, shared_.options.head_seconds);
    return read_head();
  }
  if (shared_.draining && !first) return close();
  // New connections get the time-out of the head, kept-alive ones first the idle time-out.
  set_deadline(Stage::kIdle, first ? shared_.options.head_seconds : shared_.options.idle_seconds);
  await_request();
}

/// Whether a part of the request is there. Drops the empty lines before it, which some clients send behind a
/// body (RFC 9112, section 2.2).
bool HttpConnection::has_begun() {
  const auto received = [&] {
    return std::string_view(static_cast<const char*>(buffer_.data().data()), buffer_.size());
  };
  while (received().starts_with("\r\n")) buffer_.consume(2);
  return !received().empty() && received() != "\r";
}

void HttpConnection::await_request() {
  socket_.async_read_some(buffer_.prepare(4096), then([this](ErrorCode error, size_t bytes) {
                            if (error) return close();
                            buffer_.commit(bytes);
                            if (!has_begun()) return await_request();
                            stage_ = Stage::kHead;
                            if (number_ > 1) {
                              begin_ = Clock::now();
                              set_deadline(Stage::kHead, shared_.options.head_seconds);
                            }
                            read_head();
                          }));
}

void HttpConnection::read_head() {
  parser_ = std::make_unique<Parser>();
  parser_->header_limit(static_cast<std::uint32_t>(shared_.options.head_bytes));
  parser_->body_limit(shared_.options.body_bytes);
  parse();
}

void HttpConnection::read_more() {
  socket_.async_read_some(buffer_.prepare(kReadBytes), then([this](ErrorCode error, size_t bytes) {
                            if (error) return on_read_error(error);
                            buffer_.commit(bytes);
                            parse();
                          }));
}

/// Parses what was received, up to the end of the head or of the request. Not by Beast's own functions for
/// reading, which accept folded headers and trailers of any size.
void HttpConnection::parse() {
  // The read had ended before the deadline could cancel it.
  if (timed_out_) return on_read_error(asio::error::timed_out);
  const bool head = !parser_->is_header_done();
  while (buffer_.size() > 0) {
    ErrorCode error;
    const size_t used = parser_->put(buffer_.data(), error);
    const std::string_view parsed(static_cast<const char*>(buffer_.data().data()), used);
    const bool folded = head && is_folded(parsed);
    buffer_.consume(used);
    if (error && error != http::error::need_more) return on_read_error(error);
    if (folded) return refuse(400, "a header of the request continues on the next line, which is obsolete");
    // Of a body, only what lies between chunks waits for more: lengths, extensions and the trailers.
    const size_t between_chunks = error                                      ? buffer_.size()
                                  : parser_->is_done() && parser_->chunked() ? used
                                                                             : 0;
    if (!head && between_chunks > shared_.options.head_bytes) {
      return refuse(431,
                    fmt::format("the trailers of a request may have {} bytes", shared_.options.head_bytes));
    }
    if (head && parser_->is_header_done()) return on_head();
    if (!head && !can_receive()) return refuse(503, kTooManyRequests, {{"Retry-After", "5"}});
    if (parser_->is_done()) return on_request();
    if (error) break;
  }
  read_more();
}

void HttpConnection::on_read_error(ErrorCode error) {
  if (timed_out_) {
    refuse(408, stage_ == Stage::kHead
                    ? fmt::format("the head of the request took longer than {} seconds",
                                  shared_.options.head_seconds)
                    : fmt::format("the body took longer than {} seconds", shared_.options.body_seconds));
  } else if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    refuse(431, fmt::format("the head of a request may have {} bytes", shared_.options.head_bytes));
  } else if (error == http::error::body_limit) {
    refuse(413, fmt::format("a body may have {} bytes", shared_.options.body_bytes));
  } else if (error == http::error::bad_version) {
    refuse(505, "this server speaks HTTP/1.1 and HTTP/1.0, with CR LF at the end of each line");
  } else if (error.category() == http::make_error_code(http::error::bad_method).category() &&
             error != http::error::end_of_stream && error != http::error::partial_message) {
    refuse(400, fmt::format("the request is not HTTP: {}", error.message()));
  } else {
    close();
  }
}

void HttpConnection::on_head() {
  const auto& head = parser_->get();
  framing_ = {.request_id = {},
              .head_only = head.method() == http::verb::head,
              .http_1_0 = head.version() < 11,
              .keep_alive = keeps_alive(head)};
  record_.method = std::string(head.method_string());
  if (!framing_.http_1_0 && head.count(http::field::host) != 1) {
    return refuse(400, "a request must have one Host header");
  }
  // Otherwise the body would be read as the next request, which a proxy in front may see differently.
  if (head.count(http::field::transfer_encoding) > 0) {
    if (framing_.http_1_0) return refuse(400, "a request of HTTP/1.0 has no Transfer-Encoding");
    if (head.count(http::field::transfer_encoding) > 1 ||
        !boost::beast::iequals(head[http::field::transfer_encoding], "chunked")) {
      return refuse(501, "this server reads no Transfer-Encoding but chunked");
    }
  }
  // Now, because the parser adds trailers to them, which nobody has authorized.
  headers_.clear();
  for (const auto& field : head) {
    headers_.emplace_back(ascii_lower({field.name_string().data(), field.name_string().size()}),
                          std::string(field.value()));
  }
  if (parser_->is_done()) return on_request();
  body_ = std::make_shared<CountedBytes>(shared_.received);
  set_deadline(Stage::kBody, shared_.options.body_seconds);
  // HTTP/1.0 has no interim responses.
  const bool waits = !framing_.http_1_0 && boost::beast::iequals(head[http::field::expect], "100-continue");
  if (!waits) return parse();
  static const std::string kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  asio::async_write(socket_, asio::buffer(kContinue), then([this](ErrorCode failure, size_t) {
                      if (failure) return on_read_error(failure);
                      parse();
                    }));
}

/// Counts what has come of the body; whether the bodies of all requests leave room for it. Those of most
/// requests always have it.
bool HttpConnection::can_receive() {
  const size_t size = parser_->get().body().size();
  body_->set(size);
  return size <= kAlwaysReceivedBytes || *shared_.received <= shared_.options.request_bytes;
}

void HttpConnection::on_request() {
  timer_.cancel();
  stage_ = Stage::kHandling;
  handling_ = true;
  auto message = parser_->release();
  parser_.reset();
  HttpRequest request;
  const auto target_text = message.target();
  const std::string_view target = origin_form({target_text.data(), target_text.size()});
  const size_t question = target.find('?');
  request.path = percent_decode(target.substr(0, question), false);
  if (question != std::string_view::npos) request.query = target.substr(question + 1);
  request.method = record_.method;
  request.address = address_;
  request.headers = std::move(headers_);
  request.body = std::move(message.body());
  request.counted = std::move(body_);
  const std::string_view wanted = request.header("x-request-id");
  request.id = is_request_id(wanted) ? std::string(wanted) : shared_.next_id();
  gone_ = std::make_shared<std::atomic<bool>>(false);
  request.gone = gone_;
  record_.id = request.id;
  record_.path = replace_invalid_utf8(request.path);
  record_.bytes_in = request.body.size();
  shared_.handler(std::move(request), make_reply());
  // An answer that is there already cannot be cancelled, which spares rejected requests a read and its end.
  if (!closed_ && !response_.is_complete()) watch();
}

/// Reads while a request is answered: the next request, or the end of the connection, which cancels this one.
void HttpConnection::watch() {
  if (buffer_.size() >= kReadAheadBytes) return;
  watching_ = true;
  socket_.async_read_some(buffer_.prepare(4096),
                          then([this](ErrorCode error, size_t bytes) { on_watch(error, bytes); }));
}

void HttpConnection::on_watch(ErrorCode error, size_t bytes) {
  watching_ = false;
  buffer_.commit(bytes);
  const bool stopped = std::exchange(stop_watching_, false);
  if (error && !(stopped && error == asio::error::operation_aborted)) {
    ended_ = true;
    *gone_ = true;
    if (stopped) close();
    return;
  }
  if (stopped) {
    next_request();
  } else if (handling_) {
    watch();
  }
}

/// After a request that was not read completely: closing at once would reset the connection, and the client
/// would lose the response.
void HttpConnection::refuse(int status, std::string_view message, HttpHeaders headers) {
  parser_.reset();
  body_.reset();
  handling_ = true;
  framing_.keep_alive = false;
  discard_ = true;
  if (record_.id.empty()) record_.id = shared_.next_id();
  record_.address = address_;
  HttpResponse response = error_response(status, message);
  response.headers = std::move(headers);
  send(number_, response);
}

// ---- Time and end -----------------------------------------------------------------------------------------

void HttpConnection::set_deadline(Stage stage, double seconds) {
  stage_ = stage;
  timer_.expires_after(std::chrono::microseconds(static_cast<int64_t>(seconds * 1e6)));
  timer_.async_wait(then([this](ErrorCode error) {
    if (!error && timer_.expiry() <= Clock::now()) on_deadline();
  }));
}

void HttpConnection::on_deadline() {
  switch (stage_) {
    case Stage::kHead:
    case Stage::kBody:
      timed_out_ = true;
      socket_.cancel();  // ends the read, which then answers
      return;
    case Stage::kHandling:
      return;
    case Stage::kIdle:
    case Stage::kWriting:
    case Stage::kDiscarding:
      *gone_ = true;
      close();
  }
}

void HttpConnection::drain() {
  if (stage_ != Stage::kIdle) return;
  if (number_ > 1) return close();
  attempt([this] { set_deadline(Stage::kIdle, 1); });
}

void HttpConnection::close() noexcept {
  if (std::exchange(closed_, true)) return;
  *gone_ = true;
  hold(0);
  ErrorCode ignored;
  // A response that is not sent in whole ends with a reset: in HTTP/1.0 its end looks like that of a whole
  // one.
  if (handling_ && response_.has_begun()) socket_.set_option(Tcp::socket::linger(true, 0), ignored);
  report();
  socket_.close(ignored);
  timer_.cancel();
  shared_.erase(shared_from_this());
}

}  // namespace heed::serve
