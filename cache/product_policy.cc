#include "cache/product_policy.h"

#include "app/errors.h"

// One line a policy. Each names a function `ProductPolicySpec <name>()` in the file
// cache/<name>.cc.
#define TURNSTILE_PRODUCT_POLICIES(X) \
  X(cache_aside)                      \
  X(double_delete)                    \
  X(rw_lock)                          \
  X(never_deletes)

namespace turnstile {

namespace product_policies {
#define TURNSTILE_DECLARE(name) ProductPolicySpec name();
TURNSTILE_PRODUCT_POLICIES(TURNSTILE_DECLARE)
#undef TURNSTILE_DECLARE
}  // namespace product_policies

const std::vector<ProductPolicySpec>& productPolicies() {
#define TURNSTILE_LIST(name) product_policies::name(),
  static const std::vector<ProductPolicySpec> all{TURNSTILE_PRODUCT_POLICIES(TURNSTILE_LIST)};
#undef TURNSTILE_LIST
  return all;
}

const ProductPolicySpec* findProductPolicy(std::string_view name) {
  for (const ProductPolicySpec& spec : productPolicies())
    if (spec.name == name) return &spec;
  return nullptr;
}

std::string productPolicyNames() {
  std::string names;
  for (const ProductPolicySpec& spec : productPolicies())
    if (!spec.brokenOnPurpose) names.append(names.empty() ? "" : ", ") += spec.name;
  return names;
}

Task<ProductAnswer> ReadThrough::read(ProductRead request) {
  using Source = ProductAnswer::Source;
  std::optional<Cached> cached = co_await store.read(request.id);
  if (cached && !request.pastCache)
    co_return ProductAnswer::from(Source::cache, std::move(cached->product));
  std::optional<Product> product = co_await table.read(request.id, Millis{0});
  if (!product) co_return ProductAnswer::from(Source::absent, {});
  co_await request.lab.pass(Point::beforeFill);
  Cached entry;
  entry.product = product->json;
  entry.left = config_.cacheTtl;
  co_await store.write(request.id, std::move(entry), Millis{0});
  co_return ProductAnswer::from(Source::database, std::move(product->json));
}

Task<> ReadThrough::forget(std::string id) {
  try {
    co_await store.drop(std::move(id));
  } catch (const BackendDown& down) {
    throw BackendTimeout(down.backend,
                         "the product was written, but the cache may still hold the old one");
  }
}

}  // namespace turnstile
