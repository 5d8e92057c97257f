// The routes of the service, one function a resource; each in the file of its name.
#pragma once

namespace turnstile {

class Service;

void routeSale(Service& service);       // /lock
void routeEvents(Service& service);     // /events/{id}
void routeCatalogue(Service& service);  // /strategies
void routeCache(Service& service);      // /cache, /cache/{key}
void routeToken(Service& service);      // /token
void routeProducts(Service& service);   // /products/{id}
void routeHealth(Service& service);     // /ping /healthz /readyz /metrics, and what no route matches

}  // namespace turnstile
