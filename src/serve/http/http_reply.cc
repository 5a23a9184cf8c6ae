// The reply that a handler holds, on any thread, and which posts to the connection.
#include <boost/asio/dispatch.hpp>
#include <chrono>
#include <new>
#include <thread>
#include <utility>

#include "serve/http/http_connection.h"

namespace heed::serve {

/// The connection and the number of the request, so that late output cannot get into the next response. Owns
/// neither, because a handler may keep it until after the server is gone.
class HttpConnection::Reply : public HttpReply {
 public:
  Reply(std::weak_ptr<HttpConnections> shared, std::weak_ptr<HttpConnection> connection, uint64_t number)
      : shared_(std::move(shared)), connection_(std::move(connection)), number_(number) {}
  /// A handler that dropped its reply has failed: answers 500, or ends the connection of a response that has
  /// begun, so that the client does not wait forever. Waits for memory if there is none.
  ~Reply() override {
    while (!answered_) {
      try {
        post([number = number_](HttpConnection& connection) { connection.drop(number); });
        answered_ = true;
      } catch (const std::bad_alloc&) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    }
  }

  void send(HttpResponse response) override {
    post([number = number_, response = std::move(response)](HttpConnection& connection) {
      connection.send(number, response);
    });
    answered_ = true;
  }
  void begin(HttpResponse head) override {
    post([number = number_, head = std::move(head)](HttpConnection& connection) {
      connection.begin(number, head);
    });
  }
  void write(std::string part) override {
    post([number = number_, part = std::move(part)](HttpConnection& connection) {
      connection.write(number, part);
    });
  }
  void end() override {
    post([number = number_](HttpConnection& connection) { connection.end(number); });
    answered_ = true;
  }

 private:
  template <typename Work>
  void post(Work work) {
    const std::shared_ptr<HttpConnections> shared = shared_.lock();
    if (!shared) return;
    // At once where the handler answers on the thread of input and output, as it does for 503.
    boost::asio::dispatch(shared->io, [connection = connection_, work = std::move(work)] {
      if (const auto open = connection.lock()) open->attempt([&] { work(*open); });
    });
  }

  std::weak_ptr<HttpConnections> shared_;
  std::weak_ptr<HttpConnection> connection_;
  uint64_t number_;
  std::atomic<bool> answered_ = false;  // to the end
};

std::shared_ptr<HttpReply> HttpConnection::make_reply() {
  return std::make_shared<Reply>(shared_.weak_from_this(), weak_from_this(), number_);
}

}  // namespace heed::serve
