// One connection of the HTTP server: reads a request, hands it to the handler, sends the response, and so on,
// with a deadline for each phase. Everything happens on the server's input/output thread, except what Reply
// posts to it.
#pragma once

#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "serve/http/http_connections.h"
#include "serve/http/response_stream.h"

namespace heed::serve {

/// One connection, with one request at a time.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  /// `shared` outlives the connection.
  HttpConnection(HttpConnections& shared, boost::asio::ip::tcp::socket socket);
  ~HttpConnection();

  void start() {
    attempt([this] { next_request(); });
  }
  /// Does something that belongs to this connection. If it throws, as when memory runs out, the connection is
  /// closed, and the others go on.
  template <typename Work>
  void attempt(const Work& work) {
    try {
      work();
    } catch (const std::exception&) {
      close();
    }
  }
  /// Shutdown: closes an idle connection; a new one has a moment to send its request.
  void drain();
  /// Tells the handler of the running request that nobody waits for it any more.
  void cancel() { *gone_ = true; }
  void close() noexcept;
  /// Answers with an error and closes.
  void refuse(int status, std::string_view message, HttpHeaders headers = {});

 private:
  using ErrorCode = boost::system::error_code;
  struct Parser;  // Beast's, which only the file that reads includes: it takes seconds to compile
  class Reply;
  enum class Stage { kIdle, kHead, kBody, kHandling, kWriting, kDiscarding };

  void next_request();
  bool has_begun();
  void await_request();
  void read_head();
  void read_more();
  void parse();
  void on_head();
  bool can_receive();
  void on_request();
  void on_read_error(ErrorCode error);
  void watch();
  void on_watch(ErrorCode error, size_t bytes);

  /// `work(...)` as what Asio calls at the end of an operation, unless the connection was closed meanwhile.
  template <typename Work>
  auto then(Work work) {
    return [self = shared_from_this(), work = std::move(work)](auto... results) {
      if (!self->closed_) self->attempt([&] { work(results...); });
    };
  }

  /// To the current request.
  std::shared_ptr<HttpReply> make_reply();

  /// Whether the response to request `number` is still wanted.
  bool answers(uint64_t number) const { return !closed_ && number == number_ && handling_; }
  void prepare_head(int status);
  void send(uint64_t number, const HttpResponse& response);
  void begin(uint64_t number, const HttpResponse& head);
  void write(uint64_t number, std::string_view part);
  void end(uint64_t number);
  /// Nobody will go on with the response.
  void drop(uint64_t number);
  /// Counts the bytes of the response among those of all connections.
  void hold(size_t bytes);
  bool can_hold(size_t more) const;
  void write_some();
  void on_written(ErrorCode error, size_t bytes);
  void finish();
  void discard(size_t left);

  void set_deadline(Stage stage, double seconds);
  void on_deadline();
  void report();

  HttpConnections& shared_;
  boost::asio::ip::tcp::socket socket_;
  boost::asio::steady_timer timer_;
  boost::beast::flat_buffer buffer_;  // received bytes that are not parsed yet
  std::unique_ptr<Parser> parser_;
  std::shared_ptr<CountedBytes> body_;  // of the request that is being read
  Stage stage_ = Stage::kIdle;
  std::string address_;
  uint64_t number_ = 0;  // the current request on this connection
  HttpHeaders headers_;  // of the request that is being read
  HttpRecord record_;
  std::chrono::steady_clock::time_point begin_;
  std::shared_ptr<std::atomic<bool>> gone_ = std::make_shared<std::atomic<bool>>(false);
  ResponseFraming framing_;
  ResponseStream response_;
  size_t held_ = 0;        // bytes of it
  bool handling_ = false;  // from the request to the end of its response
  bool writing_ = false;   // a write is in progress
  bool discard_ = false;   // the request was not read completely
  bool watching_ = false, stop_watching_ = false;
  bool ended_ = false;  // the client has closed its side
  bool timed_out_ = false, closed_ = false;
};

}  // namespace heed::serve
