// The one place where outcomes and errors become HTTP.
#pragma once

#include <drogon/HttpResponse.h>

#include <exception>
#include <string>
#include <string_view>

#include "locks/strategy.h"

namespace turnstile {

drogon::HttpResponsePtr json(drogon::HttpStatusCode status, std::string body);
drogon::HttpResponsePtr errorAnswer(drogon::HttpStatusCode status, std::string_view message);

struct SaleContext {
  std::string_view event;
  std::string_view strategy;
  std::string_view instance;
};
drogon::HttpResponsePtr saleAnswer(const Sale& sale, const SaleContext& context);

/// Any exception a handler let out. BackendTimeout is the caller's "unknown" only where a deduction was
/// sent; sale.cc turns it into Sale::unknown(), elsewhere it is a 504 error.
drogon::HttpResponsePtr errorAnswer(const std::exception& error);

}  // namespace turnstile
