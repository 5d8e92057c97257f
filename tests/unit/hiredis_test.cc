// What we do in hiredis' place: a command has the very bytes that hiredis would give it, and
// commands written together leave without the event loop being asked.
#include "app/hiredis.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <hiredis/async.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/redis.h"

namespace turnstile {
namespace {

std::string formatted(const char* format, ...) {
  char* command = nullptr;
  va_list arguments;
  va_start(arguments, format);
  const int length = redisvFormatCommand(&command, format, arguments);
  va_end(arguments);
  if (length < 0) return "error " + std::to_string(length);
  std::string text(command, static_cast<std::size_t>(length));
  std::free(command);
  return text;
}

std::string byHiredis(const std::vector<std::string>& words) {
  std::vector<const char*> starts;
  std::vector<std::size_t> lengths;
  for (const std::string& word : words)
    starts.push_back(word.data()), lengths.push_back(word.size());
  char* command = nullptr;
  const auto length = redisFormatCommandArgv(&command, static_cast<int>(words.size()),
                                             starts.data(), lengths.data());
  std::string text(command, static_cast<std::size_t>(length));
  std::free(command);
  return text;
}

std::string byUs(const std::string& a) { return formatted(formatOf(1), a.data(), a.size()); }
std::string byUs(const std::string& a, const std::string& b, const std::string& c) {
  return formatted(formatOf(3), a.data(), a.size(), b.data(), b.size(), c.data(), c.size());
}

TEST(RedisFormat, AreTheBytesOfHiredis) {
  const std::string binary("\0\r\n$3 %s", 9);
  EXPECT_EQ(byUs("PING"), byHiredis({"PING"}));
  EXPECT_EQ(byUs("SET", "", binary), byHiredis({"SET", "", binary}));
  for (const std::size_t size : {9u, 10u, 99u, 100u, 4096u, 1'000'000u})
    EXPECT_EQ(byUs("SET", std::string(size, 'k'), "%b"),
              byHiredis({"SET", std::string(size, 'k'), "%b"}));
}

TEST(RedisFormat, TakesAsManyWordsAsItSays) {
  EXPECT_STREQ(formatOf(2), "%b %b");
  const std::string w = "word";
  const char* const d = w.data();
  const std::size_t n = w.size();
  static_assert(Args::kMost == 16);
  EXPECT_EQ(formatted(formatOf(16), d, n, d, n, d, n, d, n, d, n, d, n, d, n, d, n, d, n, d, n, d,
                      n, d, n, d, n, d, n, d, n, d, n),
            byHiredis(std::vector<std::string>(16, w)));
  EXPECT_THROW(formatOf(17), std::out_of_range);
}

TEST(RedisFormat, LeavesOtherFormatsToHiredis) {
  EXPECT_EQ(formatted("SELECT %d", 7), byHiredis({"SELECT", "7"}));
  EXPECT_EQ(formatted("AUTH %s %b", "user", "pass", std::size_t{4}),
            byHiredis({"AUTH", "user", "pass"}));
  EXPECT_EQ(formatted("PING"), byHiredis({"PING"}));
  EXPECT_EQ(formatted("%b%b", "PI", std::size_t{2}, "NG", std::size_t{2}), byHiredis({"PING"}));
}

constexpr int kDeadlineMs = 5000;

bool ready(int socket, short what) {
  pollfd waited{socket, what, 0};
  return poll(&waited, 1, kDeadlineMs) == 1;
}

// A connection of hiredis to a socket of ours, and how often it asked its event loop for something.
class WrittenTogether : public testing::Test {
 protected:
  void SetUp() override {
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
    ASSERT_EQ(listen(listener, 1), 0);
    ASSERT_EQ(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
    connection_ = redisAsyncConnect("127.0.0.1", ntohs(address.sin_port));
    ASSERT_TRUE(connection_);
    ASSERT_EQ(connection_->err, 0);
    ASSERT_TRUE(ready(listener, POLLIN));
    server_ = accept(listener, nullptr, nullptr);
    close(listener);
    connection_->ev.data = this;
    connection_->ev.addWrite = [](void* test) {
      ++static_cast<WrittenTogether*>(test)->writesAsked_;
    };
    ASSERT_TRUE(ready(connection_->c.fd, POLLOUT));
    redisAsyncHandleWrite(connection_);
    ASSERT_TRUE(connection_->c.flags & REDIS_CONNECTED);
  }

  void TearDown() override {
    if (connection_) redisAsyncFree(connection_);
    if (server_ >= 0) close(server_);
  }

  void send(std::string_view command) {
    ASSERT_EQ(
        redisAsyncFormattedCommand(connection_, nullptr, nullptr, command.data(), command.size()),
        REDIS_OK);
  }

  std::string received() const {
    std::string text(1 << 16, '\0');
    if (!ready(server_, POLLIN)) return "nothing";
    text.resize(
        static_cast<std::size_t>(std::max<ssize_t>(0, read(server_, text.data(), text.size()))));
    return text;
  }

  redisAsyncContext* connection_ = nullptr;
  int server_ = -1;
  int writesAsked_ = 0;
};

TEST_F(WrittenTogether, LeaveAtTheEndAndAskForNothing) {
  {
    const WriteTogether together;
    send("*1\r\n$1\r\na\r\n");
    send("*1\r\n$1\r\nb\r\n");
    EXPECT_EQ(WriteTogether::current(), &together);
    pollfd early{server_, POLLIN, 0};
    EXPECT_EQ(poll(&early, 1, 0), 0) << "left before the end";
  }
  EXPECT_EQ(received(), "*1\r\n$1\r\na\r\n*1\r\n$1\r\nb\r\n");
  EXPECT_EQ(writesAsked_, 0);
}

TEST_F(WrittenTogether, OneAloneIsLeftToTheEventLoop) {
  send("*1\r\n$1\r\na\r\n");
  EXPECT_EQ(WriteTogether::current(), nullptr);
  EXPECT_EQ(writesAsked_, 1);
}

TEST_F(WrittenTogether, WhatTheSocketDoesNotTakeIsLeftToTheEventLoop) {
  const std::string large = "*1\r\n$16777216\r\n" + std::string(1 << 24, 'x') + "\r\n";
  {
    const WriteTogether together;
    send(large);
  }
  EXPECT_EQ(writesAsked_, 1);
  EXPECT_EQ(connection_->err, 0);
}

TEST_F(WrittenTogether, ABrokenConnectionIsLeftToTheEventLoop) {
  const linger reset{1, 0};
  setsockopt(server_, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  close(std::exchange(server_, -1));
  ASSERT_TRUE(ready(connection_->c.fd, POLLIN));
  {
    const WriteTogether together;
    send("*1\r\n$1\r\na\r\n");
  }
  EXPECT_EQ(writesAsked_, 1) << "the event loop finds the error and tells Drogon";
}

}  // namespace
}  // namespace turnstile
