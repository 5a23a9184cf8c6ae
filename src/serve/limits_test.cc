// What decides whether a request is answered: its fields, its key, its rate, the queue; and what is counted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

#include "eventually.h"
#include "serve/http/api_keys.h"
#include "serve/http/fields.h"
#include "serve/http/metrics.h"
#include "serve/http/rate_limit.h"
#include "serve/http/request_error.h"
#include "serve/request_queue.h"
#include "serve/routes/page_files.h"
#include "test_folder.h"

namespace heed::serve {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

HttpRequest request_of(const std::string& type, const std::string& body, const std::string& query = "") {
  HttpRequest request;
  if (!type.empty()) request.headers.emplace_back("content-type", type);
  request.body = body;
  request.query = query;
  return request;
}

int status_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const RequestError& error) {
    return error.status();
  }
  return 200;
}

TEST(Fields, AreTheSameInJsonAndForms) {
  const std::string multipart =
      "--x\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\nä & b\r\n"
      "--x\r\nContent-Disposition: form-data; name=\"n\"\r\n\r\n7\r\n"
      "--x\r\nContent-Disposition: form-data; name=\"yes\"\r\n\r\ntrue\r\n--x--\r\n";
  for (const HttpRequest& request :
       {request_of("application/json; charset=utf-8", R"({"q": "ä & b", "n": 7, "yes": true, "none": null})"),
        request_of("application/x-www-form-urlencoded", "q=%C3%A4+%26%20b&n=7&yes=true"),
        request_of("multipart/form-data; boundary=x", multipart),
        request_of("", "", "q=%C3%A4+%26%20b&n=7&yes=1"),
        // curl -d without a type
        request_of("application/x-www-form-urlencoded", R"( {"q": "ä & b", "n": 7, "yes": true})")}) {
    const Fields fields(request, 32);
    EXPECT_EQ(fields.text("q"), "ä & b");
    EXPECT_EQ(fields.integer("n", 0, 10), 7);
    EXPECT_EQ(fields.number("n", 0, 10), 7.0);
    EXPECT_TRUE(fields.flag("yes"));
    EXPECT_FALSE(fields.has("none"));
    EXPECT_FALSE(fields.text("missing"));
    EXPECT_EQ(status_of([&] { static_cast<void>(fields.integer("n", 0, 6)); }), 400);
    EXPECT_EQ(status_of([&] { static_cast<void>(fields.integer("q", 0, 6)); }), 400);
    EXPECT_EQ(status_of([&] { fields.require_known({"q", "n"}); }), 400);
    EXPECT_EQ(status_of([&] { fields.require_known({"q", "n", "yes", "none"}); }), 200);
  }
  const Fields list(request_of("application/x-www-form-urlencoded", "q=a&q=b"), 32);
  EXPECT_THAT(list.texts("q")->texts, ElementsAre("a", "b"));
}

TEST(Fields, RefuseWhatIsMalformed) {
  const auto status = [](const std::string& type, const std::string& body) {
    return status_of([&] { const Fields fields(request_of(type, body), 32); });
  };
  const std::string json = "application/json", form = "application/x-www-form-urlencoded";
  EXPECT_EQ(status(json, "{\"q\":"), 400);
  EXPECT_EQ(status(json, "[1]"), 400);
  EXPECT_EQ(status(json, ""), 400);
  EXPECT_EQ(status(json, std::string(50000, '[')), 400);
  EXPECT_EQ(status(json, "{\"a\":" + std::string(40, '[') + std::string(40, ']') + "}"), 400);
  EXPECT_EQ(status(json, "{\"a\":" + std::string(20, '[') + std::string(20, ']') + "}"), 200);
  std::string values = "0";
  for (int n = 0; n < 20000; ++n) values += ",0";
  EXPECT_EQ(status(json, "{\"a\":[" + values + "]}"), 400);
  EXPECT_EQ(status(json, "{\"a\":[\"\\\"" + values + "\"]}"), 200);  // a text
  EXPECT_EQ(status(json, "{\"q\":\"\xff\"}"), 400);
  EXPECT_EQ(status(json, "{\"q\":\"\\ud800\"}"), 400);
  EXPECT_EQ(status(json, "{\"q\":1,\"q\":2}"), 400);
  EXPECT_EQ(status(form, "q=%FF"), 400);
  EXPECT_EQ(status("text/xml", "<q/>"), 415);
  EXPECT_EQ(status("multipart/form-data", "--x"), 400);
  EXPECT_EQ(status("multipart/form-data; boundary=x", "--x\r\nno end"), 400);
  const auto repeated = [](const std::string& part, int count, std::string text = "") {
    while (count-- > 0) text += part;
    return text;
  };
  const std::string part = "--x\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\na\r\n";
  EXPECT_EQ(status(form, repeated("a&", 16384)), 200);
  EXPECT_EQ(status(form, repeated("a&", 16385)), 400);
  EXPECT_EQ(status(form, repeated("&", 20000)), 200);  // no field
  EXPECT_EQ(status("multipart/form-data; boundary=x", repeated(part, 16384) + "--x--"), 200);
  EXPECT_EQ(status("multipart/form-data; boundary=x", repeated(part, 16385) + "--x--"), 400);
  HttpRequest packed = request_of(json, "{}");
  packed.headers.emplace_back("content-encoding", "gzip");
  EXPECT_EQ(status_of([&] { const Fields fields(packed, 32); }), 415);
  const Fields wrong(request_of(json, R"({"q": 7, "list": ["a", 1]})"), 32);
  EXPECT_EQ(status_of([&] { static_cast<void>(wrong.text("q")); }), 400);
  EXPECT_EQ(status_of([&] { static_cast<void>(wrong.texts("list")); }), 400);
  EXPECT_EQ(status_of([&] { static_cast<void>(wrong.flag("q")); }), 400);
}

TEST(ApiKeys, FileMustBePrivate) {
  const TestFolder folder;
  const auto write_keys = [&](const char* content, mode_t mode = 0600) {
    std::string file = folder.write("keys", content);
    ::chmod(file.c_str(), mode);
    return file;
  };
  const std::string path =
      write_keys("# operators\nfirst-key-0123456789\n\n  second-key-0123456789\r\n", 0644);
  EXPECT_THROW(ApiKeys::load(path), Error);
  ::chmod(path.c_str(), 0600);
  const ApiKeys keys = ApiKeys::load(path);
  EXPECT_EQ(keys.size(), 2U);
  EXPECT_EQ(keys.find("first-key-0123456789"), 1U);
  EXPECT_EQ(keys.find("second-key-0123456789"), 2U);
  EXPECT_FALSE(keys.find(""));
  EXPECT_FALSE(keys.find("first-key-012345678"));
  EXPECT_FALSE(keys.find("first-key-01234567890"));
  EXPECT_FALSE(keys.find("first-key-0123456789first-key-0123456789"));
  write_keys("short\n");
  try {
    ApiKeys::load(path);
    FAIL() << "a key of five characters";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("line 1"));
    EXPECT_THAT(error.what(), Not(HasSubstr("short")));
  }
  write_keys("# none\n");
  EXPECT_THROW(ApiKeys::load(path), Error);
}

TEST(RateLimit, LimitsEachClient) {
  RateLimit limit(60);
  const auto now = RateLimit::Clock::now();
  for (int n = 0; n < 60; ++n) EXPECT_EQ(limit.take("a", now), 0);
  EXPECT_NEAR(limit.take("a", now), 1, 1e-6);
  EXPECT_EQ(limit.take("b", now), 0);
  EXPECT_EQ(limit.take("a", now + std::chrono::milliseconds(1001)), 0);
  EXPECT_GT(limit.take("a", now + std::chrono::milliseconds(1002)), 0);
  RateLimit none(0);
  for (int n = 0; n < 1000; ++n) EXPECT_EQ(none.take("a"), 0);
  EXPECT_EQ(none.clients(), 0U);
  // Clients that have not come for a minute take no memory.
  RateLimit many(1);
  for (int n = 0; n < 5000; ++n) many.take(std::to_string(n), now + std::chrono::minutes(n));
  EXPECT_LE(many.clients(), 1024U);
}

TEST(RateLimit, AnIpv6NetworkIsOneClient) {
  EXPECT_EQ(client_of_address("192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(client_of_address("2001:db8:1:2:3:4:5:6"), client_of_address("2001:db8:1:2::1"));
  EXPECT_NE(client_of_address("2001:db8:1:3::1"), client_of_address("2001:db8:1:2::1"));
}

TEST(RateLimit, BelowOneAMinuteStillLetsOneThrough) {
  RateLimit limit(0.5);
  const auto now = RateLimit::Clock::now();
  EXPECT_EQ(limit.take("a", now), 0);
  EXPECT_NEAR(limit.take("a", now), 120, 1e-6);
  EXPECT_GT(limit.take("a", now + std::chrono::seconds(119)), 0);
  EXPECT_EQ(limit.take("a", now + std::chrono::seconds(121)), 0);
  // Buckets are forgotten when they are full, not before.
  for (int n = 0; n < 2000; ++n) limit.take(std::to_string(n), now + std::chrono::seconds(182));
  EXPECT_GT(limit.take("a", now + std::chrono::seconds(182)), 0);
}

TEST(RateLimit, TakesBackACount) {
  RateLimit limit(1);
  const auto now = RateLimit::Clock::now();
  EXPECT_EQ(limit.take("a", now), 0);
  limit.give_back("a");
  limit.give_back("a");  // not beyond what a minute allows
  limit.give_back("b");
  EXPECT_EQ(limit.clients(), 1U);
  EXPECT_EQ(limit.take("a", now), 0);
  EXPECT_GT(limit.take("a", now), 0);
}

/// Requests that wait until the test lets those of their client go, and what became of them.
class RequestQueueTest : public testing::Test {
 protected:
  void start(size_t at_once, size_t waiting) { queue_ = std::make_unique<RequestQueue>(at_once, waiting); }
  void TearDown() override {
    for (const char* client : {"a", "b", "c", "d"}) let_go(client);
    queue_.reset();
  }
  bool push(const std::string& client, std::shared_ptr<const std::atomic<bool>> gone = {}) {
    return queue_->push({.client = client,
                         .work =
                             [this, client] {
                               std::unique_lock lock(mutex_);
                               ran_.push_back(client);
                               changed_.notify_all();
                               changed_.wait(lock, [&] { return free_.contains(client); });
                             },
                         .refuse = [this, client] { refused_.push_back(client); },
                         .gone = std::move(gone)});
  }
  void let_go(const std::string& client) {
    const std::lock_guard lock(mutex_);
    free_.insert(client);
    changed_.notify_all();
  }
  /// The clients whose requests have begun, in this order, once there are so many.
  std::vector<std::string> begun(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::duration<double>(kPatience), [&] { return ran_.size() >= count; });
    return ran_;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<std::string> free_;
  std::vector<std::string> ran_, refused_;
  std::unique_ptr<RequestQueue> queue_;
};

TEST_F(RequestQueueTest, IsBounded) {
  start(2, 3);
  int accepted = 0;
  for (int n = 0; n < 10; ++n) accepted += push("a") ? 1 : 0;
  EXPECT_EQ(accepted, 5);  // two run or are about to, three wait
  EXPECT_EQ(queue_->running(), 2U);
  EXPECT_EQ(queue_->waiting(), 3U);
  let_go("a");
  EXPECT_EQ(begun(5).size(), 5U);
  EXPECT_TRUE(eventually([&] { return queue_->running() == 0; }));
}

TEST_F(RequestQueueTest, AClientLeavesThreadsToOthers) {
  start(6, 100);
  for (int n = 0; n < 20; ++n) EXPECT_TRUE(push("a"));
  EXPECT_EQ(begun(6), std::vector<std::string>(6, "a"));
  EXPECT_TRUE(push("b"));
  EXPECT_EQ(begun(7).back(), "b");
  EXPECT_TRUE(push("c"));
  EXPECT_EQ(begun(8).back(), "c");
  EXPECT_EQ(queue_->waiting(), 14U);
}

TEST_F(RequestQueueTest, ServesClientsInTurn) {
  start(1, 100);  // on two threads, of which "d" keeps one
  push("d");
  push("a");
  for (const char* client : {"a", "a", "b", "b", "c"}) push(client);
  begun(2);
  for (const char* client : {"b", "c"}) let_go(client);
  let_go("a");
  std::vector<std::string> order = begun(7);
  order.erase(order.begin(), order.begin() + 2);
  EXPECT_THAT(order, ElementsAre("b", "c", "a", "b", "a"));
}

TEST_F(RequestQueueTest, AFullQueueIsShared) {
  start(1, 2);
  push("a");
  push("b");  // both threads
  EXPECT_TRUE(push("a"));
  EXPECT_TRUE(push("a"));
  EXPECT_FALSE(push("a"));
  EXPECT_TRUE(push("c"));  // in the place of one of "a"
  EXPECT_THAT(refused_, ElementsAre("a"));
  EXPECT_FALSE(push("d"));  // both have one
  EXPECT_FALSE(push("a"));
  EXPECT_EQ(queue_->waiting(), 2U);
}

TEST_F(RequestQueueTest, AFullQueueForgetsWhoIsGone) {
  start(1, 2);
  push("a");
  push("b");
  const auto gone = std::make_shared<std::atomic<bool>>(false);
  EXPECT_TRUE(push("a", gone));
  EXPECT_TRUE(push("b"));
  EXPECT_FALSE(push("c"));
  *gone = true;
  EXPECT_TRUE(push("c"));
  EXPECT_THAT(refused_, ElementsAre("a"));
}

TEST_F(RequestQueueTest, StopsWithoutWaitingForever) {
  start(1, 3);
  push("a");
  push("a");
  begun(1);
  EXPECT_FALSE(queue_->stop(0.01));
  EXPECT_FALSE(push("b"));
  let_go("a");
  EXPECT_TRUE(queue_->stop(300));
  EXPECT_EQ(begun(1).size(), 1U) << "waiting work is dropped";
}

TEST(Metrics, AreCumulativeHistograms) {
  Histogram histogram({1, 2});
  for (const double value : {0.5, 1.0, 1.5, 7.0}) histogram.add(value);
  EXPECT_EQ(histogram.text("h", "r=\"x\""),
            "h_bucket{r=\"x\",le=\"1\"} 2\nh_bucket{r=\"x\",le=\"2\"} 3\nh_bucket{r=\"x\",le=\"+Inf\"} 4\n"
            "h_sum{r=\"x\"} 10\nh_count{r=\"x\"} 4\n");
}

TEST(WebFiles, ServesTheEmbeddedPage) {
  const WebFiles files;
  ASSERT_NE(files.find("/"), nullptr);
  EXPECT_THAT(files.find("/")->content_type, HasSubstr("text/html"));
  // All modules are in one script, so that the first view needs few requests.
  EXPECT_LE(files.size(), 4U);
  ASSERT_NE(files.find("/main.js"), nullptr);
  const std::string& script = files.find("/main.js")->body;
  EXPECT_THAT(script, HasSubstr("createLines"));
  EXPECT_THAT(script, Not(HasSubstr("\nimport ")));
}

TEST(WebFiles, ServesOnlyTheFolder) {
  const TestFolder folder;
  folder.write("index.html", "<p>page</p>");
  folder.write("view.js", "x");
  folder.write(".hidden.js", "secret");
  folder.write("key.pem", "secret");
  std::filesystem::create_symlink("/etc/hostname", folder.path("link.txt"));
  const WebFiles files(folder.path());
  EXPECT_EQ(files.size(), 2U);
  ASSERT_NE(files.find("/"), nullptr);
  EXPECT_EQ(files.find("/")->body, "<p>page</p>");
  EXPECT_EQ(files.find("/view.js")->content_type, "text/javascript; charset=utf-8");
  for (const char* path : {"/.hidden.js", "/key.pem", "/link.txt", "/../index.html", "//index.html", ""}) {
    EXPECT_EQ(files.find(path), nullptr) << path;
  }
  HttpRequest request;
  const HttpResponse first = file_response(request, *files.find("/"));
  std::string tag, policy;
  for (const auto& [name, value] : first.headers) {
    if (name == "ETag") tag = value;
    if (name == "Content-Security-Policy") policy = value;
  }
  EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
  request.headers.emplace_back("if-none-match", tag);
  EXPECT_EQ(file_response(request, *files.find("/")).status, 304);
  for (const std::string& same : {"W/" + tag, "\"other\" , W/" + tag, std::string("*")}) {
    request.headers = {{"if-none-match", same}};
    EXPECT_EQ(file_response(request, *files.find("/")).status, 304) << same;
  }
  request.headers = {{"if-none-match", "\"other\", W/\"" + tag}};
  EXPECT_EQ(file_response(request, *files.find("/")).status, 200);
}

}  // namespace
}  // namespace heed::serve
