#include "serve/http/http_server.h"

#include <sys/resource.h>

#include <boost/asio/post.hpp>
#include <chrono>
#include <thread>
#include <utility>

#include "base/blocked_signals.h"
#include "base/check.h"
#include "serve/http/http_connection.h"

namespace heed::serve {
namespace {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;
using ErrorCode = boost::system::error_code;
using Clock = std::chrono::steady_clock;

/// How long accepting waits after an error, such as no further descriptor, until others may be closed.
constexpr std::chrono::milliseconds kRetry(50);

/// Counts itself in a number while it exists.
class Counted {
 public:
  explicit Counted(int& number) : number_(&number) { ++number; }
  Counted(Counted&& other) noexcept : number_(std::exchange(other.number_, nullptr)) {}
  Counted& operator=(Counted&&) = delete;
  ~Counted() {
    if (number_ != nullptr) --*number_;
  }

 private:
  int* number_;
};

/// Raises the limit of file descriptors to the maximum.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

/// The listening socket, the thread of all input and output, and the connections.
class HttpServer::Listener {
 public:
  Listener(const HttpServerOptions& options, Handler handler, Done done)
      : shared(std::make_shared<HttpConnections>(options, std::move(handler), std::move(done))),
        acceptor(shared->io),
        retry(shared->io) {
    listen();
  }

  void listen();
  void run();
  void accept();
  void accept_later();
  void admit(Tcp::socket socket);
  void admit_backlog();

  std::shared_ptr<HttpConnections> shared;
  int accepting = 0;  // operations of the acceptor and of the timer that are waited for
  Tcp::acceptor acceptor;
  asio::steady_timer retry;
  std::thread thread;
};

void HttpServer::Listener::listen() {
  ErrorCode error;
  Tcp::resolver resolver(shared->io);
  const auto found = resolver.resolve(shared->options.host, std::to_string(shared->options.port), error);
  if (error || found.empty()) {
    fail(ErrorKind::kFile, "cannot listen on '{}': {}; give an address of this machine with --host",
         shared->options.host, error.message());
  }
  const Tcp::endpoint endpoint = found.begin()->endpoint();
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(Tcp::acceptor::reuse_address(true), error);
  // Otherwise Asio passes over the error, and waits for another connection although one may be there already.
  if (!error) acceptor.set_option(asio::socket_base::enable_connection_aborted(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(1024, error);
  if (error) {
    const bool of_the_port = error == asio::error::address_in_use || error == asio::error::access_denied;
    fail(ErrorKind::kFile, "cannot listen on {} port {}: {}{}", shared->options.host, shared->options.port,
         error.message(), of_the_port ? "; choose another --port, or 0 for a free one" : "");
  }
}

/// The thread of input and output. Where memory runs out between operations of connections, Asio drops an
/// operation of its own, which may have been that of accepting.
void HttpServer::Listener::run() {
  block_signals();
  const auto work = asio::make_work_guard(shared->io);
  while (!shared->io.stopped()) {
    try {
      if (accepting == 0 && acceptor.is_open() && !shared->draining) accept();
      shared->io.run();
    } catch (const std::exception&) {
      std::this_thread::sleep_for(kRetry);
    }
  }
}

void HttpServer::Listener::accept() {
  acceptor.async_accept([this, counted = Counted(accepting)](ErrorCode error, Tcp::socket socket) {
    if (shared->draining || error == asio::error::operation_aborted) return;
    if (error) return accept_later();
    admit(std::move(socket));
    accept();
  });
}

void HttpServer::Listener::accept_later() {
  retry.expires_after(kRetry);
  retry.async_wait([this, counted = Counted(accepting)](ErrorCode aborted) {
    if (!aborted && !shared->draining) accept();
  });
}

/// Accepts what waits in the listen backlog.
void HttpServer::Listener::admit_backlog() {
  ErrorCode error;
  acceptor.non_blocking(true, error);
  while (!error) {
    Tcp::socket socket(shared->io);
    acceptor.accept(socket, error);
    if (!error) admit(std::move(socket));
  }
}

void HttpServer::Listener::admit(Tcp::socket socket) {
  auto connection = std::make_shared<HttpConnection>(*shared, std::move(socket));
  const bool full = shared->count >= shared->options.connections;
  if (full && shared->count >= shared->options.connections + 64) return;  // no capacity even for an error
  shared->insert(connection);
  if (full) {
    connection->refuse(503, "too many connections", {{"Retry-After", "5"}});
  } else {
    connection->start();
  }
}

HttpServer::HttpServer(const HttpServerOptions& options, Handler handler, Done done)
    : listener_(std::make_unique<Listener>(options, std::move(handler), std::move(done))) {
  raise_descriptor_limit();
}

HttpServer::~HttpServer() {
  asio::post(listener_->shared->io, [&listener = *listener_] {
    listener.shared->draining = true;
    ErrorCode ignored;
    listener.acceptor.close(ignored);
    listener.shared->for_each([](HttpConnection& connection) { connection.close(); });
    listener.shared->io.stop();
  });
  if (listener_->thread.joinable()) listener_->thread.join();
}

uint16_t HttpServer::port() const {
  return listener_->acceptor.local_endpoint().port();
}

std::string HttpServer::url() const {
  const auto address = listener_->acceptor.local_endpoint().address();
  const std::string text = address.to_string();
  return fmt::format("http://{}:{}/", address.is_v6() ? "[" + text + "]" : text, port());
}

bool HttpServer::is_loopback() const {
  return listener_->acceptor.local_endpoint().address().is_loopback();
}

size_t HttpServer::open_connections() const {
  return listener_->shared->count;
}

size_t HttpServer::received_bytes() const {
  return *listener_->shared->received;
}

bool HttpServer::is_full() const {
  return listener_->shared->held >= listener_->shared->options.answer_bytes;
}

void HttpServer::start() {
  listener_->thread = std::thread([&listener = *listener_] { listener.run(); });
}

void HttpServer::drain(double seconds, double cancel_seconds) {
  asio::post(listener_->shared->io, [&listener = *listener_] {
    listener.shared->draining = true;
    try {
      listener.admit_backlog();
    } catch (const std::bad_alloc&) {
      // Their clients see the connection end.
    }
    ErrorCode ignored;
    listener.acceptor.close(ignored);
    listener.shared->for_each([](HttpConnection& connection) { connection.drain(); });
  });
  // Does not wait for the thread of input and output, in case it hangs.
  const auto wait = [&](double time) {
    const auto end = Clock::now() + std::chrono::duration<double>(time);
    const auto empty = std::make_shared<std::atomic<bool>>(false);
    while (Clock::now() < end) {
      asio::post(listener_->shared->io,
                 [&shared = *listener_->shared, empty] { *empty = shared.open.empty() && shared.draining; });
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      if (*empty) return true;
    }
    return false;
  };
  if (wait(seconds)) return;
  asio::post(listener_->shared->io, [&listener = *listener_] {
    listener.shared->for_each([](HttpConnection& connection) { connection.cancel(); });
  });
  wait(cancel_seconds);
}

}  // namespace heed::serve
