// What a queueing lock remembers of each request between two calls of the recipe: its place in the
// queue. By owner, so that a request which asks a second time is known for the one that already
// holds the lock. A place itself is touched by its request alone.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace turnstile {

template <class Place>
class Places {
 public:
  /// Null: this owner has none.
  std::shared_ptr<Place> find(const std::string& owner) const {
    const std::lock_guard guard(mutex_);
    const auto found = places_.find(owner);
    return found == places_.end() ? nullptr : found->second;
  }
  std::shared_ptr<Place> findOrAdd(const std::string& owner) {
    const std::lock_guard guard(mutex_);
    auto& place = places_[owner];
    if (!place) place = std::make_shared<Place>();
    return place;
  }
  void erase(const std::string& owner) {
    const std::lock_guard guard(mutex_);
    places_.erase(owner);
  }

 private:
  mutable std::mutex mutex_;  // never held across an await
  std::unordered_map<std::string, std::shared_ptr<Place>> places_;
};

}  // namespace turnstile
