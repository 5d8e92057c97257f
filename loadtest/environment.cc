#include "loadtest/environment.h"

#include <sys/utsname.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "loadtest/catalogue.h"
#include "loadtest/child_process.h"

namespace turnstile::harness {
namespace {

namespace fs = std::filesystem;
const std::string kUnknown = "unknown";

std::string trimmed(std::string text) {
  const auto space = [](unsigned char c) { return std::isspace(c) != 0; };
  text.erase(std::find_if_not(text.rbegin(), text.rend(), space).base(), text.end());
  text.erase(text.begin(), std::find_if_not(text.begin(), text.end(), space));
  return text;
}

// First line of what a program says of itself; wrk's and nginx's own ways to say it (exit 1,
// stderr) are fine too.
std::string firstLine(const std::vector<std::string>& argv) {
  try {
    const std::string output = runToEnd(argv, std::chrono::seconds(5)).output;
    const std::string line = trimmed(output.substr(0, output.find('\n')));
    return line.empty() ? kUnknown : line.substr(0, 160);
  } catch (const std::exception&) {
    return kUnknown;
  }
}

// "key<separator>value" of a file in /proc or /etc.
std::string field(const char* file, const std::string& key, char separator) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (line.rfind(key, 0) != 0) continue;
    std::string value = trimmed(line.substr(std::min(line.size(), line.find(separator) + 1)));
    value.erase(std::remove(value.begin(), value.end(), '"'), value.end());
    return value;
  }
  return kUnknown;
}

std::string cpuModel() {
  const std::string model = field("/proc/cpuinfo", "model name", ':');
  return model != kUnknown ? model : firstLine({"uname", "-m"});  // arm64 has no model name there
}

std::string memory() {
  const double kib = std::atof(field("/proc/meminfo", "MemTotal", ':').c_str());
  std::ostringstream text;
  text.precision(1);
  text << std::fixed << kib / (1 << 20) << " GiB";
  return kib > 0 ? text.str() : kUnknown;
}

std::string kernel() {
  utsname name{};
  return uname(&name) == 0 ? std::string(name.sysname) + " " + name.release : kUnknown;
}

std::string commit(const fs::path& root) {
  const auto git = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"git", "-C", root.string()});
    return runToEnd(words, std::chrono::seconds(10));
  };
  try {
    const Finished head = git({"rev-parse", "--short=12", "HEAD"});
    if (head.exitCode != 0) return kUnknown;
    const bool changed = !git({"status", "--porcelain", "--untracked-files=no"}).output.empty();
    return trimmed(head.output) + (changed ? " with local changes" : "");
  } catch (const std::exception&) {
    return kUnknown;
  }
}

Json::Value versions() {
  Json::Value json;
  json["server"] = framework();
  json["redis"] = firstLine({"redis-server", "--version"});
  json["mariadb"] = firstLine({"mariadbd", "--version"});
  json["nginx"] = firstLine({"nginx", "-v"});
  json["wrk"] = firstLine({"wrk", "-v"});
  json["etcd"] = firstLine({"etcd", "--version"});
  json["zookeeper"] = firstLine({"dpkg-query", "-W", "-f", "${Version}", "libzookeeper-java"});
  return json;
}

std::string redisSetting(const Json::Value& port, const char* name) {
  if (!port.isInt()) return kUnknown;
  try {
    const auto said = runToEnd({"redis-cli", "-p", port.asString(), "config", "get", name},
                               std::chrono::seconds(3))
                          .output;
    const auto line = said.find('\n');
    return line == std::string::npos ? kUnknown : trimmed(said.substr(line + 1));
  } catch (const std::exception&) {
    return kUnknown;
  }
}

// Through the owner's socket, by a name relative to its directory: an absolute one may be longer
// than sockets allow.
void addMariadbSettings(Json::Value& json, const fs::path& runDir) {
  const std::vector<std::string> names{"innodb_flush_log_at_trx_commit", "sync_binlog", "log_bin",
                                       "innodb_doublewrite"};
  std::string query = "SHOW GLOBAL VARIABLES WHERE Variable_name IN (";
  for (const auto& name : names) {
    json["mariadb " + name] = kUnknown;
    query += (query.back() == '(' ? "'" : ",'") + name + "'";
  }
  try {
    const Finished said =
        runToEnd({"env", "-C", (runDir / "data" / "mariadb").string(), "mariadb", "--no-defaults",
                  "--socket=mariadb.sock", "--connect-timeout=2", "-N", "-B", "-e", query + ")"},
                 std::chrono::seconds(5));
    if (said.exitCode != 0) return;
    std::istringstream lines(said.output);
    for (std::string name, value; lines >> name >> value;) json["mariadb " + name] = value;
  } catch (const std::exception&) {
  }
}

}  // namespace

Json::Value environmentStamp(const fs::path& root, const fs::path& runDir,
                             const Json::Value& stack) {
  Json::Value json;
  json["cpu"] = cpuModel();
  json["cores"] = std::thread::hardware_concurrency();
  json["memory"] = memory();
  json["kernel"] = kernel();
  json["system"] = field("/etc/os-release", "PRETTY_NAME", '=');
  json["commit"] = commit(root);
  json["versions"] = versions();
  json["durability"]["redis appendonly"] = redisSetting(stack["redis_main"], "appendonly");
  json["durability"]["redis appendfsync"] = redisSetting(stack["redis_main"], "appendfsync");
  addMariadbSettings(json["durability"], runDir);
  return json;
}

}  // namespace turnstile::harness
