// results.json is what others build on, so it is held against its documented schema,
// docs/results-schema.json, field by field. The validator knows the few words of JSON Schema that
// the schema uses, and refuses a schema that uses another.
#include <gtest/gtest.h>
#include <json/json.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "loadtest/plan.h"
#include "loadtest/results.h"

namespace turnstile::harness {
namespace {

namespace fs = std::filesystem;

fs::path checkout() {
  if (const char* root = std::getenv("TURNSTILE_ROOT")) return root;
  return fs::absolute(fs::path(__FILE__)).parent_path().parent_path().parent_path();
}

Json::Value load(const fs::path& path) {
  Json::Value json;
  std::ifstream file(path);
  std::string problem;
  EXPECT_TRUE(file && Json::parseFromStream(Json::CharReaderBuilder(), file, &json, &problem))
      << path << " " << problem;
  return json;
}

class Validator {
 public:
  explicit Validator(Json::Value schema) : schema_(std::move(schema)) {}

  std::vector<std::string> problems(const Json::Value& json) {
    problems_.clear();
    check(json, schema_, "results");
    return problems_;
  }

 private:
  void check(const Json::Value& json, const Json::Value& schema, const std::string& at) {
    if (schema.isMember("$ref")) {
      const std::string name = schema["$ref"].asString();
      return check(json, schema_["definitions"][name.substr(name.rfind('/') + 1)], at);
    }
    for (const auto& word : schema.getMemberNames()) {
      static const std::set<std::string> known{
          "$schema",  "title", "description", "definitions",          "type",   "properties",
          "required", "items", "enum",        "additionalProperties", "minimum"};
      if (!known.contains(word))
        problems_.push_back("the schema uses " + word + ", which this test does not know");
    }
    if (schema.isMember("type") && !hasType(json, schema["type"])) {
      problems_.push_back(at + " is of the wrong type");
      return;
    }
    if (schema.isMember("enum") && !among(json, schema["enum"]))
      problems_.push_back(at + " is not an allowed value");
    if (schema.isMember("minimum") && json.isNumeric() &&
        json.asDouble() < schema["minimum"].asDouble()) {
      problems_.push_back(at + " is below its minimum");
    }
    if (json.isObject()) checkObject(json, schema, at);
    if (json.isArray() && schema.isMember("items")) {
      for (Json::ArrayIndex i = 0; i < json.size(); ++i)
        check(json[i], schema["items"], at + "[" + std::to_string(i) + "]");
    }
  }

  void checkObject(const Json::Value& json, const Json::Value& schema, const std::string& at) {
    for (const auto& name : schema["required"]) {
      if (!json.isMember(name.asString()))
        problems_.push_back(at + "." + name.asString() + " is missing");
    }
    for (const auto& name : json.getMemberNames()) {
      if (schema["properties"].isMember(name)) {
        check(json[name], schema["properties"][name], at + "." + name);
      } else if (schema.isMember("additionalProperties")) {
        problems_.push_back(at + "." + name + " is not documented");
      }
    }
  }

  static bool hasType(const Json::Value& json, const Json::Value& type) {
    if (type.isArray()) {
      for (const auto& one : type) {
        if (hasType(json, one)) return true;
      }
      return false;
    }
    const std::string name = type.asString();
    return (name == "object" && json.isObject()) || (name == "array" && json.isArray()) ||
           (name == "string" && json.isString()) || (name == "boolean" && json.isBool()) ||
           (name == "null" && json.isNull()) || (name == "integer" && json.isIntegral()) ||
           (name == "number" && json.isNumeric());
  }

  static bool among(const Json::Value& json, const Json::Value& allowed) {
    for (const auto& one : allowed) {
      if (json == one || (json.isNumeric() && one.isNumeric() && json.asDouble() == one.asDouble()))
        return true;
    }
    return false;
  }

  Json::Value schema_;
  std::vector<std::string> problems_;
};

Results sample() {
  Results results;
  results.startedAt = results.finishedAt = "2026-01-31T12:00:00Z";
  results.complete = true;
  results.plannedRuns = 3;
  results.command = {"turnstile", "compare"};
  results.options.seed = 7;
  results.options.scan = Scan{"connections", {64}};
  for (const char* text : {"cpu", "memory", "kernel", "system", "commit"})
    results.environment[text] = "unknown";
  results.environment["cores"] = 2;
  results.environment["versions"] = results.environment["durability"] = Json::objectValue;
  results.catalogue = {
      {"none", "control", "nothing", {"redis"}, {{"contention", "oversold", "two read the same"}}}};
  Run ping;
  ping.round = 1;
  ping.strategy = kPing;
  ping.client.seconds = 2;
  ping.client.sold = ping.client.requests = 90'000;
  Run run = ping;
  run.strategy = "none";
  run.event = "cmp-none";
  run.ceiling = 45'000;
  run.client.latency.percentiles = {{50, 1.5}, {99, 9}};
  run.audit = Audit{5000, 4000, 1100, 1000, 100, "oversold", {17, 18}};
  run.lock.soldPerInstance = {500, 600};
  run.judgement = {Verdict::oversold, "100 seats sold more than once", 64};
  Run failed = run;
  failed.audit.reset();
  failed.judgement = {Verdict::unknown, "redis was gone", 0};
  results.runs = {ping, run, failed};
  return results;
}

// What a reader gets is the text, so the text is what is checked.
Json::Value reread(const Results& results) {
  Json::Value json;
  std::istringstream text(toText(toJson(results)));
  std::string problem;
  EXPECT_TRUE(Json::parseFromStream(Json::CharReaderBuilder(), text, &json, &problem)) << problem;
  return json;
}

std::string joined(const std::vector<std::string>& problems) {
  std::string text;
  for (const auto& problem : problems) text += problem + "\n";
  return text;
}

TEST(HarnessResultsSchema, AFullAnUnfinishedAndAnEmptyComparisonAreValid) {
  Validator validator(load(checkout() / "docs" / "results-schema.json"));
  EXPECT_EQ(joined(validator.problems(reread(sample()))), "");
  Results unfinished = sample();
  unfinished.complete = false;
  unfinished.finishedAt.clear();
  unfinished.options.scan.reset();
  EXPECT_EQ(joined(validator.problems(reread(unfinished))), "");
  unfinished.runs.clear();
  EXPECT_EQ(joined(validator.problems(reread(unfinished))), "");
}

TEST(HarnessResultsSchema, TheSampleOfTheBrowserTestIsValidToo) {
  Validator validator(load(checkout() / "docs" / "results-schema.json"));
  EXPECT_EQ(joined(validator.problems(
                load(checkout() / "tests" / "browser" / "sample" / "results.json"))),
            "");
}

TEST(HarnessResultsSchema, TheTestWouldNoticeAFieldMissingAddedOrOfTheWrongType) {
  Validator validator(load(checkout() / "docs" / "results-schema.json"));
  Json::Value json = reread(sample());
  json["runs"][1].removeMember("verdict");
  json["runs"][1]["speed"] = 1;
  json["runs"][1]["round"] = "first";
  json["summary"]["rows"][0]["verdict"] = "fine";
  json["version"] = 2;
  EXPECT_EQ(validator.problems(json).size(), 5u) << joined(validator.problems(json));
}

TEST(HarnessResults, CarryTheFiguresTheyWereGiven) {
  const Json::Value json = reread(sample());
  EXPECT_EQ(json["runs"][1]["sales_per_second"].asDouble(), 45'000);
  EXPECT_EQ(json["runs"][1]["of_ceiling"].asDouble(), 1);
  EXPECT_EQ(json["runs"][1]["audit"]["double_seats"].size(), 2u);
  EXPECT_EQ(json["summary"]["rows"][0]["verdict"].asString(), "oversold");
  EXPECT_TRUE(json["runs"][2]["audit"].isNull());
}

}  // namespace
}  // namespace turnstile::harness
