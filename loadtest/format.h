// How figures look to a reader, the same in every report: 35,210 · 0.74 · ±3% · 12.4.
#pragma once

#include <string>
#include <vector>

#include "loadtest/summary.h"

namespace turnstile::harness {

std::string thousands(double value);  // "35,210"
std::string fixed(double value, int digits);
std::string joined(const std::vector<std::string>& words, const std::string& separator);
std::string millis(double ms);         // three digits that matter: 0.72, 12.4, 1,204
std::string percent(double share);     // "12%", "<1%", "0"
std::string plusMinus(const Spread&);  // "±3%", "-" when one round shows none
std::string shares(const std::vector<double>& perInstance);  // "34/33/33%"
std::string describe(const Ceiling&);  // "ceiling (/ping): 48,120 answers/s ±2%"
std::string describe(const Point&);    // "64 connections, 3 instances"

}  // namespace turnstile::harness
