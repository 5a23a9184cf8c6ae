// The server against clients that are slow, wrong, greedy or gone.
#include "serve/http/http_server.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "heed/error.h"
#include "test_http_client.h"

namespace heed::serve {
namespace {

using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Echoes bodies; what the handler of /hold does is decided by the test.
class HttpServerTest : public testing::Test {
 protected:
  void start(HttpServerOptions options = {}) {
    server_ = std::make_unique<HttpServer>(
        options, [this](HttpRequest request, std::shared_ptr<HttpReply> reply) { handle(request, reply); },
        [this](const HttpRecord& record) {
          const std::lock_guard lock(mutex_);
          records_.push_back(record);
          changed_.notify_all();
        });
    server_->start();
  }
  void TearDown() override {
    server_.reset();
    held_.clear();  // replies may outlive the server
  }
  void handle(const HttpRequest& request, const std::shared_ptr<HttpReply>& reply) {
    if (request.path == "/hold") {
      const std::lock_guard lock(mutex_);
      held_.push_back({request, reply});
      changed_.notify_all();
    } else if (request.path == "/parts") {
      reply->begin({.status = 200, .content_type = "text/plain", .body = "one,"});
      reply->write("two,");
      reply->write("three");
      reply->end();
    } else if (request.path == "/drop") {
      return;
    } else if (request.path == "/block") {  // the thread of input and output
      blocked_ = true;
      blocked_.notify_all();
      go_.wait(false);
      reply->send({.status = 200});
    } else if (request.path == "/large") {
      reply->send({.status = 200, .content_type = "text/plain", .body = std::string(64 << 20, 'x')});
    } else {
      reply->send({.status = 200, .content_type = "text/plain", .body = request.path + ":" + request.body});
    }
  }
  struct Held {
    HttpRequest request;
    std::shared_ptr<HttpReply> reply;
  };
  Held take_held() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !held_.empty(); });
    Held held = held_.back();
    held_.pop_back();
    return held;
  }
  HttpRecord wait_for_record(const std::function<bool(const HttpRecord&)>& wanted) {
    std::unique_lock lock(mutex_);
    HttpRecord found;
    const bool came = changed_.wait_for(lock, std::chrono::duration<double>(kPatience), [&] {
      for (const HttpRecord& record : records_) {
        if (wanted(record)) return found = record, true;
      }
      return false;
    });
    EXPECT_TRUE(came);
    return found;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Held> held_;
  std::vector<HttpRecord> records_;
  std::atomic<bool> blocked_ = false, go_ = false;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, KeepAliveAndPipelining) {
  start();
  HttpConnection client(server_->port());
  EXPECT_EQ(client.get("/a%20b?c=d").body, "/a b:");
  EXPECT_EQ(client.post("/echo", "text", "").body, "/echo:text");
  // Pipelined, in one packet and split within a head.
  client.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\nGET /3 HT");
  client.send("TP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(client.receive().body, "/1:");
  EXPECT_EQ(client.receive().body, "/2:");
  EXPECT_EQ(client.receive().body, "/3:");
  const HttpAnswer parts = client.get("/parts");
  EXPECT_EQ(parts.body, "one,two,three");
  client.send("HEAD /x HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(client.receive(true).status, 200);
  EXPECT_EQ(client.get("/after").body, "/after:");
  client.send("GET http://elsewhere/y HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(client.receive().body, "/y:");
}

TEST_F(HttpServerTest, ChunkedBodiesAndContinue) {
  start();
  HttpConnection client(server_->port());
  client.send(
      "POST /e HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
  EXPECT_EQ(client.receive().body, "/e:abcde");
  client.send("POST /e HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  client.send("ok");
  EXPECT_EQ(client.receive().body, "/e:ok");
}

TEST_F(HttpServerTest, ResponsesHaveHeadersAndIds) {
  start();
  HttpConnection client(server_->port());
  const HttpAnswer named = client.get("/", "X-Request-Id: my-id.7\r\n");
  EXPECT_EQ(named.headers.at("x-request-id"), "my-id.7");
  EXPECT_EQ(named.headers.at("x-content-type-options"), "nosniff");
  EXPECT_EQ(named.headers.at("cache-control"), "no-store");
  const std::string made = client.get("/", "X-Request-Id: no;good\r\n").headers.at("x-request-id");
  EXPECT_EQ(made.find(';'), std::string::npos);
  EXPECT_NE(client.get("/").headers.at("x-request-id"), made);
}

TEST_F(HttpServerTest, LimitsTheBodiesOfAllRequests) {
  constexpr size_t kBody = 200'000;
  const std::string head = fmt::format("POST /hold HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n", kBody);
  start({.request_bytes = 3 * kBody - 2});
  {
    HttpConnection received(server_->port()), held(server_->port()), refused(server_->port());
    held.send(head + std::string(kBody, 'a'));
    Held request = take_held();
    received.send(head + std::string(kBody - 1, 'a'));
    ASSERT_TRUE(eventually([&] { return server_->received_bytes() == 2 * kBody - 1; }));
    refused.send(head + std::string(kBody, 'a'));
    EXPECT_EQ(refused.receive().status, 503);
    EXPECT_TRUE(refused.ends_within());
    EXPECT_EQ(HttpConnection(server_->port()).post("/", std::string(60'000, 'a'), "").status, 200);
    request.reply->send({});
    EXPECT_EQ(held.receive().status, 200);
  }
  // What is answered or gone no longer counts.
  EXPECT_TRUE(eventually([&] {
    return HttpConnection(server_->port()).post("/", std::string(3 * kBody - 2, 'a'), "").status == 200;
  }));
}

TEST_F(HttpServerTest, AResponseThatBreaksOffEndsWithAReset) {
  start();
  HttpConnection client(server_->port());
  client.send("GET /hold HTTP/1.0\r\n\r\n");
  Held held = take_held();
  held.reply->begin({.status = 200, .content_type = "text/plain", .body = "one,"});
  EXPECT_NE(client.peek(), "");
  held = {};  // without an end
  EXPECT_TRUE(client.is_reset());
}

TEST_F(HttpServerTest, EnforcesSizeLimits) {
  start({.head_bytes = 1024, .body_bytes = 100});
  EXPECT_EQ(HttpConnection(server_->port()).get("/" + std::string(2000, 'a')).status, 431);
  EXPECT_EQ(HttpConnection(server_->port()).get("/", "A: " + std::string(2000, 'a') + "\r\n").status, 431);
  EXPECT_EQ(HttpConnection(server_->port()).post("/", std::string(100, 'a'), "").status, 200);
  EXPECT_EQ(HttpConnection(server_->port()).post("/", std::string(101, 'a'), "").status, 413);
  // In parts the size is not known before.
  HttpConnection client(server_->port());
  client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n50\r\n" +
              std::string(80, 'a') + "\r\n50\r\n" + std::string(80, 'a') + "\r\n0\r\n\r\n");
  EXPECT_EQ(client.receive().status, 413);
  EXPECT_TRUE(client.ends_within());
  // A client that sends megabytes before it reads gets the answer too.
  HttpConnection greedy(server_->port());
  greedy.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4000000\r\n\r\n");
  greedy.send(std::string(4000000, 'a'));
  EXPECT_EQ(greedy.receive().status, 413);
}

TEST_F(HttpServerTest, RefusesMalformedRequests) {
  start();
  for (
      const char* bad :
      {"rubbish\r\n\r\n", "GET /\r\n\r\n", "GET / HTTP/9.9\r\nHost: a\r\n\r\n", "GET / HTTP/1.1\r\n\r\n",
       "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "\x16\x03\x01\x02\r\n\r\n",
       "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
       "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
       "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
       "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
       "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
       "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
       "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
       "GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n z\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nX:\r\n\tz\r\n\r\n",
       "GET / HTTP/1.1\r\nHost: a\r\nX : y\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\n folded\x01: y\r\n\r\n"}) {
    HttpConnection client(server_->port());
    client.send(bad);
    const HttpAnswer answer = client.receive();
    EXPECT_TRUE(answer.status == 400 || answer.status == 501 || answer.status == 505) << bad << answer.status;
    EXPECT_TRUE(client.ends_within()) << bad;
  }
  EXPECT_EQ(HttpConnection(server_->port()).get("/").status, 200);
}

TEST_F(HttpServerTest, TrailersAreIgnoredAndLimited) {
  start({.head_bytes = 1024});
  const std::string head = "POST /hold HTTP/1.1\r\nHost: a\r\nA: head\r\nTransfer-Encoding: chunked\r\n\r\n";
  HttpConnection client(server_->port());
  client.send(head + "2\r\nab\r\n0\r\nA: trailer\r\nAuthorization: Bearer x\r\n\r\n");
  const Held held = take_held();
  EXPECT_EQ(held.request.body, "ab");
  EXPECT_EQ(held.request.header("a"), "head");
  EXPECT_EQ(held.request.header("authorization"), "");
  held.reply->send({.status = 200, .content_type = "text/plain", .body = "done"});
  EXPECT_EQ(client.receive().body, "done");
  EXPECT_EQ(client.get("/next").body, "/next:");
  // Complete in one packet, endless, and an endless extension of a chunk.
  const std::string large = "B: " + std::string(2000, 'b');
  for (const std::string& rest :
       {"0\r\n" + large + "\r\n\r\n", "0\r\n" + large, "2;" + std::string(2000, 'x')}) {
    HttpConnection greedy(server_->port());
    greedy.send(head + rest);
    EXPECT_EQ(greedy.receive().status, 431) << rest;
  }
}

TEST_F(HttpServerTest, ResponsesThatNobodyReadsAreBounded) {
  start({.answer_bytes = size_t{100} << 20});
  HttpConnection first(server_->port()), second(server_->port());
  first.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n");  // 64 MiB, of which the socket takes some
  EXPECT_EQ(first.peek().substr(0, 12), "HTTP/1.1 200");
  const HttpAnswer refused = second.get("/large");
  EXPECT_EQ(refused.status, 503);
  EXPECT_GT(std::stoi(refused.headers.at("retry-after")), 0);
  EXPECT_EQ(second.get("/small").body, "/small:");
  EXPECT_EQ(first.receive().body.size(), size_t{64} << 20);
  EXPECT_EQ(second.get("/large").body.size(), size_t{64} << 20);
}

TEST_F(HttpServerTest, SlowWritersAreDisconnected) {
  start({.head_seconds = 0.3, .body_seconds = 0.3, .idle_seconds = 0.3});
  const auto begin = Clock::now();
  HttpConnection idle(server_->port());
  EXPECT_EQ(idle.get("/").status, 200);
  HttpConnection head(server_->port()), body(server_->port()), silent(server_->port());
  body.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n");
  head.send("GET / HTTP/1.1\r\nHo");
  while (seconds_since(begin) < 0.8) {
    head.send("s");
    body.send("x");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_EQ(head.receive().status, 408);
  EXPECT_EQ(body.receive().status, 408);
  EXPECT_EQ(silent.receive().status, 0);
  EXPECT_TRUE(idle.ends_within());
}

// A read that is complete cannot be cancelled any more: the next ones must not go on without a deadline.
TEST_F(HttpServerTest, DataAtTheDeadlineIsLateToo) {
  constexpr double kSeconds = 0.3;
  start({.head_bytes = 64 << 10, .head_seconds = kSeconds, .body_seconds = kSeconds});
  HttpConnection head(server_->port()), body(server_->port()), other(server_->port());
  body.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nx");
  head.send("GET / HTTP/1.1\r\nA: ");
  const auto begin = Clock::now();
  other.send("GET /block HTTP/1.1\r\nHost: a\r\n\r\n");
  blocked_.wait(false);
  // Both come while the server cannot look.
  body.send(std::string(60'000, 'x'));
  head.send(std::string(40'000, 'x'));
  while (seconds_since(begin) < 2 * kSeconds) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  go_ = true;
  go_.notify_all();
  EXPECT_EQ(body.receive().status, 408);
  EXPECT_EQ(head.receive().status, 408);
}

TEST_F(HttpServerTest, SlowReadersAreDisconnected) {
  start({.write_seconds = 0.3});
  HttpConnection client(server_->port());
  client.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
  const HttpRecord record = wait_for_record([](const HttpRecord& each) { return each.path == "/large"; });
  EXPECT_TRUE(record.gone);
  EXPECT_LT(record.seconds, HttpServerOptions().write_seconds);
}

TEST_F(HttpServerTest, SlowClientsDoNotBlockOthers) {
  start({.connections = 20});
  std::vector<std::unique_ptr<HttpConnection>> slow;
  for (int n = 0; n < 19; ++n) {
    slow.push_back(std::make_unique<HttpConnection>(server_->port()));
    slow.back()->send("GET / HTTP/1.1\r\n");
  }
  HttpConnection last(server_->port());
  EXPECT_EQ(last.get("/").status, 200);
  const auto begin = Clock::now();
  HttpConnection refused(server_->port());
  const HttpAnswer answer = refused.receive();
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.headers.count("retry-after"), 1U);
  const HttpRecord record = wait_for_record([](const HttpRecord& each) { return each.status == 503; });
  EXPECT_LE(record.seconds, seconds_since(begin));
  slow.clear();
  EXPECT_TRUE(eventually([&] { return server_->open_connections() <= 2; }));
  EXPECT_EQ(HttpConnection(server_->port()).get("/").status, 200);
}

TEST_F(HttpServerTest, DisconnectCancelsTheRequest) {
  start();
  {
    HttpConnection client(server_->port());
    client.send("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n");
    Held held = take_held();
    EXPECT_FALSE(*held.request.gone);
    held_.push_back(held);
  }
  Held held = take_held();
  EXPECT_TRUE(eventually([&] { return bool(*held.request.gone); }));
  held.reply->send({.status = 200});
  EXPECT_TRUE(wait_for_record([](const HttpRecord& record) { return record.path == "/hold"; }).gone);
}

TEST_F(HttpServerTest, LateResponsesAreDropped) {
  start();
  HttpConnection client(server_->port());
  client.send("GET /hold HTTP/1.1\r\nHost: a\r\n\r\nGET /next HTTP/1.1\r\nHost: a\r\n\r\n");
  Held held = take_held();
  held.reply->send({.status = 200, .content_type = "text/plain", .body = "first"});
  EXPECT_EQ(client.receive().body, "first");
  held.reply->send({.status = 200, .content_type = "text/plain", .body = "again"});
  held.reply->write("and again");
  EXPECT_EQ(client.receive().body, "/next:");
  // A handler that loses its reply has failed.
  EXPECT_EQ(client.get("/drop").status, 500);
}

TEST_F(HttpServerTest, Http10) {
  start();
  HttpConnection client(server_->port());
  client.send("GET /parts HTTP/1.0\r\n\r\n");
  const HttpAnswer answer = client.receive();
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.headers.count("transfer-encoding"), 0U);
  EXPECT_TRUE(client.ends_within());
}

TEST_F(HttpServerTest, NotModifiedHasNoLength) {
  start();
  HttpConnection client(server_->port());
  client.send("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n");
  take_held().reply->send({.status = 304});
  const HttpAnswer answer = client.receive();
  EXPECT_EQ(answer.status, 304);
  EXPECT_EQ(answer.headers.count("content-length"), 0U);
  EXPECT_EQ(client.get("/next").body, "/next:");
}

TEST_F(HttpServerTest, ContinueIsForHttp11) {
  start();
  HttpConnection client(server_->port());
  client.send("POST /e HTTP/1.0\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\nok");
  EXPECT_THAT(client.peek(), testing::StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpServerTest, CloseInAnyConnectionHeaderCloses) {
  start();
  for (const char* headers :
       {"Connection: keep-alive\r\nConnection: close\r\n", "Connection: x, Close\r\n"}) {
    HttpConnection client(server_->port());
    EXPECT_EQ(client.get("/", headers).headers["connection"], "close") << headers;
    EXPECT_TRUE(client.ends_within());
  }
  HttpConnection old(server_->port());
  old.send("GET /1 HTTP/1.0\r\nConnection: x\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(old.receive().headers["connection"], "keep-alive");
  EXPECT_EQ(old.get("/2").body, "/2:");
}

// As some clients send them behind a body; RFC 9112, section 2.2.
TEST_F(HttpServerTest, EmptyLinesBeforeARequestAreIgnored) {
  start();
  HttpConnection client(server_->port());
  client.send("\r\nPOST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nok\r\n");
  EXPECT_EQ(client.receive().body, "/1:ok");
  client.send("\r");
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  client.send("\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(client.get("/2").body, "/2:");
}

TEST_F(HttpServerTest, DrainCompletesRunningRequests) {
  start();
  const uint16_t port = server_->port();
  HttpConnection busy(port), idle(port), half(port);
  EXPECT_EQ(idle.get("/").status, 200);
  half.send("GET /half HTTP/1.1\r\nHo");
  busy.send("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n");
  Held held = take_held();
  std::thread draining([&] { server_->drain(kPatience); });
  EXPECT_TRUE(idle.ends_within());
  half.send("st: a\r\n\r\n");
  EXPECT_EQ(half.receive().status, 200);
  EXPECT_THROW(HttpConnection{port}, std::runtime_error);
  held.reply->send({.status = 200, .content_type = "text/plain", .body = "done"});
  const HttpAnswer answer = busy.receive();
  EXPECT_EQ(answer.body, "done");
  EXPECT_EQ(answer.headers.at("connection"), "close");
  draining.join();
  EXPECT_EQ(server_->open_connections(), 0U);
}

TEST_F(HttpServerTest, DrainCancelsSlowRequests) {
  start();
  HttpConnection busy(server_->port());
  busy.send("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n");
  Held held = take_held();
  std::thread draining([&] { server_->drain(0.1); });
  EXPECT_TRUE(eventually([&] { return bool(*held.request.gone); }));
  held.reply->send(error_response(503, "cancelled"));
  EXPECT_EQ(busy.receive().status, 503);
  draining.join();
}

TEST_F(HttpServerTest, DrainEndsInTimeWhateverAHandlerDoes) {
  start();
  HttpConnection client(server_->port());
  client.send("GET /block HTTP/1.1\r\nHost: a\r\n\r\n");
  blocked_.wait(false);
  server_->drain(0.1, 0.1);  // returns
  go_ = true;
  go_.notify_all();
}

TEST(HttpServer, ReportsABindFailure) {
  const auto never = [](const HttpRequest&, const std::shared_ptr<HttpReply>&) {};
  const auto done = [](const HttpRecord&) {};
  HttpServer first({}, never, done);
  EXPECT_TRUE(first.is_loopback());
  EXPECT_THAT(first.url(), HasSubstr("http://127.0.0.1:"));
  try {
    HttpServer second({.port = first.port()}, never, done);
    FAIL() << "the port is taken";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("--port"));
  }
  EXPECT_THROW(HttpServer({.host = "no.such.host.invalid"}, never, done), Error);
}

}  // namespace
}  // namespace heed::serve
