// What the caches count, one block a policy, in /metrics as turnstile_cache_…{policy="mutex"}. The
// number every policy is judged by is dbReads: how often a request reached the database.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <string>

#include "app/metrics.h"

namespace turnstile {

struct CacheMetrics {
  Counter hits, stale, rebuilt, busy, failed;  // answers: how each came about
  Counter dbReads;                             // started, whatever became of them
  Counter dbFailed;
  Counter bypassed;               // answers while Redis was away
  std::atomic<int> dbReading{0};  // now

  /// Counts one database read for as long as it lives.
  class Reading {
   public:
    explicit Reading(CacheMetrics& metrics) : metrics_(metrics) {
      metrics_.dbReads.add();
      ++metrics_.dbReading;
    }
    ~Reading() { --metrics_.dbReading; }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

   private:
    CacheMetrics& metrics_;
  };
};

class CacheCounts {
 public:
  /// Created on first use; the reference stays good.
  CacheMetrics& of(const std::string& policy);
  /// Prometheus text format.
  std::string prometheus() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, CacheMetrics> byPolicy_;
};

}  // namespace turnstile
