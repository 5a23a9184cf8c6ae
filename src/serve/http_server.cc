#include "serve/http_server.h"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <chrono>
#include <csignal>
#include <ctime>
#include <optional>
#include <random>
#include <set>
#include <thread>

#include "base/check.h"
#include "text/utf8.h"

namespace heed::serve {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using Tcp = asio::ip::tcp;
using ErrorCode = boost::system::error_code;
using Clock = std::chrono::steady_clock;
using Parser = http::request_parser<http::string_body>;

constexpr size_t kWriteBytes = 64 << 10;
/// Pipelined requests are buffered up to this size; then reading pauses until they are answered.
constexpr size_t kReadAheadBytes = 64 << 10;
/// At most this much of a rejected request is read and discarded, so that the client can read the response.
constexpr size_t kDiscardedBytes = 8 << 20;
constexpr double kDiscardSeconds = 2;

std::string http_date() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[64];
  return {text, std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts)};
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

/// Whether a client's X-Request-Id is safe in a log and in a header.
bool is_request_id(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
}

/// The path and query of a target in absolute form, "http://host/path?query", which proxies receive.
std::string_view origin_form(std::string_view target) {
  const size_t scheme = target.find("://");
  if (target.starts_with('/') || scheme == std::string_view::npos) return target;
  const size_t slash = target.find('/', scheme + 3);
  return slash == std::string_view::npos ? "/" : target.substr(slash);
}

/// Raises the limit of file descriptors to the maximum.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

class HttpServer::State : public std::enable_shared_from_this<State> {
 public:
  State(const HttpServerOptions& settings, Handler handle, Done tell)
      : options(settings), handler(std::move(handle)), done(std::move(tell)), acceptor(io), retry(io) {
    std::random_device random;
    id_prefix = fmt::format("{:08x}{:08x}", random(), random());
    listen();
  }

  void listen();
  void accept();
  void admit(Tcp::socket socket);
  std::string next_id() { return fmt::format("{}-{}", id_prefix, ++requests); }

  HttpServerOptions options;
  Handler handler;
  Done done;
  asio::io_context io{1};
  Tcp::acceptor acceptor;
  asio::steady_timer retry;
  std::string id_prefix;
  uint64_t requests = 0;
  std::set<std::shared_ptr<Session>> sessions;
  std::atomic<size_t> session_count = 0;
  bool draining = false;
  std::thread thread;
};

/// One connection, with one request at a time.
class HttpServer::Session : public std::enable_shared_from_this<Session> {
 public:
  Session(State& server, Tcp::socket socket)
      : server_(server), socket_(std::move(socket)), timer_(server.io) {
    ErrorCode ignored;
    const auto end = socket_.remote_endpoint(ignored);
    address_ = end.address().to_string(ignored);
    socket_.set_option(Tcp::no_delay(true), ignored);
  }

  void start() { next_request(); }
  /// Shutdown: closes idle connections; new ones have a moment to send their request.
  void drain();
  void cancel() { *gone_ = true; }
  void close();
  void refuse(int status, std::string_view message);

  void send(uint64_t number, HttpResponse response);
  void begin(uint64_t number, HttpResponse head);
  void write(uint64_t number, std::string_view part);
  void end(uint64_t number);

 private:
  enum class Stage { kIdle, kHead, kBody, kHandling, kWriting, kDiscarding };
  void next_request();
  void read_head();
  void on_head(ErrorCode error);
  void read_body();
  void on_request();
  void on_read_error(ErrorCode error);
  void watch();
  void on_watch(ErrorCode error, size_t bytes);
  void write_some();
  void on_written(ErrorCode error, size_t bytes);
  void finish();
  void discard(size_t left);
  void set_deadline(Stage stage, double seconds);
  void on_deadline();
  void append_head(const HttpResponse& response, bool in_parts);
  void report();

  State& server_;
  Tcp::socket socket_;
  asio::steady_timer timer_;
  boost::beast::flat_buffer buffer_;  // received bytes that are not parsed yet
  std::optional<Parser> parser_;
  Stage stage_ = Stage::kIdle;
  std::string address_;
  uint64_t number_ = 0;  // the current request on this connection
  HttpRecord record_;
  Clock::time_point begin_;
  std::shared_ptr<std::atomic<bool>> gone_ = std::make_shared<std::atomic<bool>>(false);
  std::string out_;  // the response; bytes from written_ on are not sent yet
  size_t written_ = 0;
  bool handling_ = false;  // from the request to the end of its response
  bool writing_ = false;   // a write is in progress
  bool complete_ = false;  // the response is complete in out_
  bool in_parts_ = false, chunked_ = false;
  bool head_only_ = false, old_version_ = false;
  bool keep_alive_ = true;
  bool discard_ = false;  // the request was not read completely
  bool watching_ = false, stop_watching_ = false;
  bool ended_ = false;  // the client has closed its side
  bool timed_out_ = false, closed_ = false;
};

/// The session and the number of the request, so that late output cannot get into the next response.
class HttpServer::Reply : public HttpReply {
 public:
  Reply(std::weak_ptr<State> server, std::shared_ptr<Session> session, uint64_t number)
      : server_(std::move(server)), session_(std::move(session)), number_(number) {}
  /// A handler that dropped its reply has failed: answers 500, so that the client does not wait forever.
  ~Reply() override {
    if (!answered_) send(error_response(500, "the request was dropped"));
  }

  void send(HttpResponse response) override {
    answered_ = true;
    post([number = number_, response = std::move(response)](Session& session) mutable {
      session.send(number, std::move(response));
    });
  }
  void begin(HttpResponse head) override {
    answered_ = true;
    post([number = number_, head = std::move(head)](Session& session) mutable {
      session.begin(number, std::move(head));
    });
  }
  void write(std::string part) override {
    post([number = number_, part = std::move(part)](Session& session) { session.write(number, part); });
  }
  void end() override {
    post([number = number_](Session& session) { session.end(number); });
  }

 private:
  template <typename Work>
  void post(Work work) {
    const std::shared_ptr<State> server = server_.lock();
    if (!server) return;
    asio::post(server->io, [session = session_, work = std::move(work)]() mutable { work(*session); });
  }

  std::weak_ptr<State> server_;
  std::shared_ptr<Session> session_;
  uint64_t number_;
  std::atomic<bool> answered_ = false;
};

// ---- Reading ----------------------------------------------------------------------------------------------

void HttpServer::Session::next_request() {
  handling_ = complete_ = in_parts_ = chunked_ = head_only_ = false;
  record_ = {};
  record_.address = address_;
  ++number_;
  const bool first = number_ == 1;
  if (server_.draining && !first && buffer_.size() == 0) return close();
  begin_ = Clock::now();
  if (buffer_.size() > 0) {
    set_deadline(Stage::kHead, server_.options.head_seconds);
    return read_head();
  }
  // New connections get the time-out of the head, kept-alive ones first the idle time-out.
  set_deadline(Stage::kIdle, first ? server_.options.head_seconds : server_.options.idle_seconds);
  socket_.async_read_some(buffer_.prepare(4096),
                          [self = shared_from_this(), first](ErrorCode error, size_t bytes) {
                            if (error || self->closed_) return self->close();
                            self->buffer_.commit(bytes);
                            self->stage_ = Stage::kHead;
                            if (!first) {
                              self->begin_ = Clock::now();
                              self->set_deadline(Stage::kHead, self->server_.options.head_seconds);
                            }
                            self->read_head();
                          });
}

void HttpServer::Session::read_head() {
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(server_.options.head_bytes));
  parser_->body_limit(server_.options.body_bytes);
  http::async_read_header(socket_, buffer_, *parser_,
                          [self = shared_from_this()](ErrorCode error, size_t) { self->on_head(error); });
}

void HttpServer::Session::on_read_error(ErrorCode error) {
  if (closed_) return;
  if (timed_out_) {
    refuse(408, stage_ == Stage::kHead
                    ? fmt::format("the head of the request took longer than {} seconds",
                                  server_.options.head_seconds)
                    : fmt::format("the body took longer than {} seconds", server_.options.body_seconds));
  } else if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    refuse(431, fmt::format("the head of a request may have {} bytes", server_.options.head_bytes));
  } else if (error == http::error::body_limit) {
    refuse(413, fmt::format("a body may have {} bytes", server_.options.body_bytes));
  } else if (error == http::error::bad_version) {
    refuse(505, "this server speaks HTTP/1.1 and HTTP/1.0");
  } else if (error.category() == http::make_error_code(http::error::bad_method).category() &&
             error != http::error::end_of_stream && error != http::error::partial_message) {
    refuse(400, fmt::format("the request is not HTTP: {}", error.message()));
  } else {
    close();
  }
}

void HttpServer::Session::on_head(ErrorCode error) {
  if (error) return on_read_error(error);
  const auto& head = parser_->get();
  keep_alive_ = head.keep_alive();
  old_version_ = head.version() < 11;
  record_.method = std::string(head.method_string());
  head_only_ = head.method() == http::verb::head;
  if (!old_version_ && head.count(http::field::host) != 1) {
    return refuse(400, "a request must have one Host header");
  }
  if (parser_->is_done()) return on_request();
  set_deadline(Stage::kBody, server_.options.body_seconds);
  if (!boost::beast::iequals(head[http::field::expect], "100-continue")) return read_body();
  static const std::string kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  socket_.async_write_some(asio::buffer(kContinue), [self = shared_from_this()](ErrorCode failure, size_t) {
    if (failure) return self->on_read_error(failure);
    self->read_body();
  });
}

void HttpServer::Session::read_body() {
  http::async_read(socket_, buffer_, *parser_, [self = shared_from_this()](ErrorCode error, size_t) {
    if (error) return self->on_read_error(error);
    self->on_request();
  });
}

void HttpServer::Session::on_request() {
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
  for (const auto& field : message) {
    request.headers.emplace_back(lower({field.name_string().data(), field.name_string().size()}),
                                 std::string(field.value()));
  }
  request.body = std::move(message.body());
  const std::string_view wanted = request.header("x-request-id");
  request.id = is_request_id(wanted) ? std::string(wanted) : server_.next_id();
  gone_ = std::make_shared<std::atomic<bool>>(false);
  request.gone = gone_;
  record_.id = request.id;
  record_.path = replace_invalid_utf8(request.path);
  record_.bytes_in = request.body.size();
  watch();
  server_.handler(std::move(request),
                  std::make_shared<Reply>(server_.weak_from_this(), shared_from_this(), number_));
}

/// Reads while a request is answered: the next request, or the end of the connection, which cancels this one.
void HttpServer::Session::watch() {
  if (buffer_.size() >= kReadAheadBytes) return;
  watching_ = true;
  socket_.async_read_some(buffer_.prepare(4096), [self = shared_from_this()](ErrorCode error, size_t bytes) {
    self->on_watch(error, bytes);
  });
}

void HttpServer::Session::on_watch(ErrorCode error, size_t bytes) {
  watching_ = false;
  if (closed_) return;
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

// ---- Writing ----------------------------------------------------------------------------------------------

void HttpServer::Session::append_head(const HttpResponse& response, bool in_parts) {
  record_.status = response.status;
  if (server_.draining || ended_) keep_alive_ = false;
  in_parts_ = in_parts;
  chunked_ = in_parts && !old_version_;
  if (in_parts && !chunked_) keep_alive_ = false;
  out_ = fmt::format("HTTP/1.1 {} {}\r\nDate: {}\r\n", response.status, reason_phrase(response.status),
                     http_date());
  if (!record_.id.empty()) out_ += "X-Request-Id: " + record_.id + "\r\n";
  out_ +=
      "X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\n"
      "Cross-Origin-Resource-Policy: same-origin\r\n";
  bool cached = false;
  for (const auto& [name, value] : response.headers) {
    out_ += name + ": " + value + "\r\n";
    cached = cached || name == "Cache-Control";
  }
  if (!cached) out_ += "Cache-Control: no-store\r\n";
  if (response.status != 204) out_ += "Content-Type: " + response.content_type + "\r\n";
  if (chunked_) {
    out_ += "Transfer-Encoding: chunked\r\n";
  } else if (!in_parts && response.status != 204) {
    out_ += fmt::format("Content-Length: {}\r\n", response.body.size());
  }
  if (!keep_alive_) out_ += "Connection: close\r\n";
  if (keep_alive_ && old_version_) out_ += "Connection: keep-alive\r\n";
  out_ += "\r\n";
  written_ = 0;
}

void HttpServer::Session::send(uint64_t number, HttpResponse response) {
  if (closed_ || number != number_ || !handling_ || complete_ || in_parts_) return;
  append_head(response, false);
  if (!head_only_) out_ += response.body;
  complete_ = true;
  if (!writing_) write_some();
}

void HttpServer::Session::begin(uint64_t number, HttpResponse head) {
  if (closed_ || number != number_ || !handling_ || complete_ || in_parts_) return;
  append_head(head, true);
  if (!head.body.empty()) return write(number, head.body);
  if (!writing_) write_some();
}

void HttpServer::Session::write(uint64_t number, std::string_view part) {
  if (closed_ || number != number_ || !in_parts_ || complete_ || part.empty()) return;
  if (!head_only_) {
    if (chunked_) {
      out_ += fmt::format("{:x}\r\n{}\r\n", part.size(), part);
    } else {
      out_ += part;
    }
  }
  if (!writing_) write_some();
}

void HttpServer::Session::end(uint64_t number) {
  if (closed_ || number != number_ || !in_parts_ || complete_) return;
  if (chunked_ && !head_only_) out_ += "0\r\n\r\n";
  complete_ = true;
  if (!writing_) write_some();
}

void HttpServer::Session::write_some() {
  if (written_ == out_.size()) {
    record_.bytes_out += written_;
    out_.clear();
    written_ = 0;
    timer_.cancel();
    stage_ = Stage::kHandling;
    if (complete_) finish();
    return;
  }
  writing_ = true;
  set_deadline(Stage::kWriting, server_.options.write_seconds);
  const size_t bytes = std::min(out_.size() - written_, kWriteBytes);
  // The buffer being written must not move while chunks are added.
  auto chunk = std::make_shared<std::string>(out_, written_, bytes);
  socket_.async_write_some(
      asio::buffer(*chunk),
      [self = shared_from_this(), chunk](ErrorCode error, size_t n) { self->on_written(error, n); });
}

void HttpServer::Session::on_written(ErrorCode error, size_t bytes) {
  writing_ = false;
  if (closed_) return;
  if (error) {
    *gone_ = true;
    return close();
  }
  written_ += bytes;
  write_some();
}

void HttpServer::Session::report() {
  if (!handling_ && record_.status == 0) return;
  record_.seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
  record_.gone = *gone_;
  if (record_.status == 0) record_.status = 499;
  server_.done(record_);
  handling_ = false;
  record_ = {};
}

void HttpServer::Session::finish() {
  report();
  if (!keep_alive_ || ended_) {
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

/// After a request that was not read completely: closing at once would reset the connection, and the client
/// would lose the response.
void HttpServer::Session::refuse(int status, std::string_view message) {
  timed_out_ = false;
  handling_ = true;
  keep_alive_ = false;
  discard_ = true;
  if (record_.id.empty()) record_.id = server_.next_id();
  record_.address = address_;
  send(number_, error_response(status, message));
}

void HttpServer::Session::discard(size_t left) {
  buffer_.clear();
  socket_.async_read_some(buffer_.prepare(kWriteBytes),
                          [self = shared_from_this(), left](ErrorCode error, size_t bytes) {
                            if (error || self->closed_ || bytes >= left) return self->close();
                            self->discard(left - bytes);
                          });
}

// ---- Time and end -----------------------------------------------------------------------------------------

void HttpServer::Session::set_deadline(Stage stage, double seconds) {
  stage_ = stage;
  timer_.expires_after(std::chrono::microseconds(static_cast<int64_t>(seconds * 1e6)));
  timer_.async_wait([self = shared_from_this()](ErrorCode error) {
    if (!error && self->timer_.expiry() <= Clock::now()) self->on_deadline();
  });
}

void HttpServer::Session::on_deadline() {
  if (closed_) return;
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

void HttpServer::Session::drain() {
  if (stage_ != Stage::kIdle) return;
  if (number_ > 1) return close();
  set_deadline(Stage::kIdle, 1);
}

void HttpServer::Session::close() {
  if (std::exchange(closed_, true)) return;
  *gone_ = true;
  report();
  ErrorCode ignored;
  socket_.close(ignored);
  timer_.cancel();
  server_.sessions.erase(shared_from_this());
  server_.session_count = server_.sessions.size();
}

void HttpServer::State::listen() {
  ErrorCode error;
  Tcp::resolver resolver(io);
  const auto found = resolver.resolve(options.host, std::to_string(options.port), error);
  if (error || found.empty()) {
    fail(ErrorKind::kFile, "cannot listen on '{}': {}; give an address of this machine with --host",
         options.host, error.message());
  }
  const Tcp::endpoint endpoint = found.begin()->endpoint();
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(Tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(1024, error);
  if (error) {
    fail(ErrorKind::kFile, "cannot listen on {} port {}: {}; choose another --port, or 0 for a free one",
         options.host, options.port, error.message());
  }
}

void HttpServer::State::accept() {
  acceptor.async_accept([this](ErrorCode error, Tcp::socket socket) {
    if (draining || error == asio::error::operation_aborted) return;
    if (!error) {
      admit(std::move(socket));
      return accept();
    }
    // Out of descriptors, for example: retry after others are closed.
    retry.expires_after(std::chrono::milliseconds(50));
    retry.async_wait([this](ErrorCode aborted) {
      if (!aborted && !draining) accept();
    });
  });
}

void HttpServer::State::admit(Tcp::socket socket) {
  auto session = std::make_shared<Session>(*this, std::move(socket));
  const bool full = sessions.size() >= options.connections;
  if (full && sessions.size() >= options.connections + 64) return;  // no capacity even for an error response
  sessions.insert(session);
  session_count = sessions.size();
  if (full) {
    session->refuse(503, "too many connections");
  } else {
    session->start();
  }
}

HttpServer::HttpServer(const HttpServerOptions& options, Handler handler, Done done)
    : state_(std::make_shared<State>(options, std::move(handler), std::move(done))) {
  raise_descriptor_limit();
}

HttpServer::~HttpServer() {
  asio::post(state_->io, [state = state_.get()] {
    state->draining = true;
    ErrorCode ignored;
    state->acceptor.close(ignored);
    for (const auto& session : std::set(state->sessions)) session->close();
    state->io.stop();
  });
  if (state_->thread.joinable()) state_->thread.join();
}

uint16_t HttpServer::port() const {
  return state_->acceptor.local_endpoint().port();
}

std::string HttpServer::url() const {
  const auto address = state_->acceptor.local_endpoint().address();
  const std::string text = address.to_string();
  return fmt::format("http://{}:{}/", address.is_v6() ? "[" + text + "]" : text, port());
}

bool HttpServer::is_loopback() const {
  return state_->acceptor.local_endpoint().address().is_loopback();
}

size_t HttpServer::open_connections() const {
  return state_->session_count;
}

void HttpServer::start() {
  state_->accept();
  state_->thread = std::thread([state = state_.get()] {
    sigset_t all;  // signals are for the main thread
    sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
    const auto work = asio::make_work_guard(state->io);
    state->io.run();
  });
}

void HttpServer::drain(double seconds) {
  asio::post(state_->io, [state = state_.get()] {
    state->draining = true;
    ErrorCode error;
    // Connections in the listen backlog.
    state->acceptor.non_blocking(true, error);
    while (!error) {
      Tcp::socket socket(state->io);
      state->acceptor.accept(socket, error);
      if (!error) state->admit(std::move(socket));
    }
    state->acceptor.close(error);
    for (const auto& session : std::set(state->sessions)) session->drain();
  });
  const auto wait = [&](double time) {
    const auto end = Clock::now() + std::chrono::duration<double>(time);
    while (Clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      std::atomic<bool> empty = false, asked = false;
      asio::post(state_->io, [&] {
        empty = state_->sessions.empty() && state_->draining;
        asked = true;
        asked.notify_one();
      });
      asked.wait(false);
      if (empty) return true;
    }
    return false;
  };
  if (wait(seconds)) return;
  asio::post(state_->io, [state = state_.get()] {
    for (const auto& session : state->sessions) session->cancel();
  });
  wait(2);
}

}  // namespace heed::serve
