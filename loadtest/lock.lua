-- Buys tickets on /lock (or, as the ceiling, knocks on /ping) and reports what every answer was.
--
--   wrk -t2 -c64 -d5s -s loadtest/lock.lua http://127.0.0.1:8080 -- <strategy> <event> [option=value ...]
--   wrk -t2 -c64 -d5s -s loadtest/lock.lua http://127.0.0.1:8080 -- /ping
--
-- Options: stock=redis|mysql  where the count lives (default: the strategy's own choice)
--          users=N            distinct buyers, spread over the requests (default 1024)
--          seats=on           also collect the seat numbers sold (costs a body parse for each sale: off by default)
--
-- The last line of output is "TURNSTILE {json}": answers by outcome, latency percentiles, seats if asked for.
-- wrk builds a header table for every answer as soon as response() exists, which costs it some percent of its own
-- speed. /ping runs through the very same callback, so ratios to the ceiling stay fair.

local OUTCOME = { [200] = "sold", [409] = "sold_out", [503] = "busy", [504] = "unknown" } -- anything else: error
local EXPECTED = { [200] = true, [409] = true, [503] = true } -- the others are failures: the first one's words are kept
local PERCENTILES = { 1, 5, 10, 25, 50, 75, 90, 95, 99, 99.9 }

local threads = {}

function setup(thread)
  threads[#threads + 1] = thread
end

-- Per thread. Globals, because done() runs in another Lua state and reads them through thread:get().
statuses = { [0] = 0, [200] = 0 } -- HTTP status -> answers; at 0 the requests issued: what is not answered was in flight
seats = {}                        -- seats sold, when asked for
firstError = nil                  -- the first failure: status and body

local count = statuses -- the same table as an upvalue: a global look-up per request is measurable
local pool, size, at = {}, 0, 0

local function parse(args)
  local target, options = {}, { users = "1024" }
  for _, arg in ipairs(args) do
    local key, value = arg:match("^(%a+)=(.*)$")
    if key then options[key] = value else target[#target + 1] = arg end
  end
  return target, options
end

function init(args)
  local target, options = parse(args)
  if target[1] == "/ping" then
    pool[1] = wrk.format("GET", "/ping")
  else
    if not (target[1] and target[2]) then
      error("usage: wrk ... -s lock.lua URL -- <strategy> <event> [stock=...] [users=N] [seats=on]   or   -- /ping")
    end
    local path = "/lock?event=" .. target[2] .. "&strategy=" .. target[1]
    if options.stock then path = path .. "&stock=" .. options.stock end
    -- formatted once: building a request string costs more than sending it
    for user = 1, tonumber(options.users) do
      pool[user] = wrk.format("POST", path .. "&user=u" .. user)
    end
  end
  size = #pool
  if options.seats == "on" then response = responseWithSeats end
end

function request()
  count[0] = count[0] + 1
  at = at % size + 1
  return pool[at]
end

function response(status, headers, body)
  count[status] = (count[status] or 0) + 1
  if not EXPECTED[status] and not firstError then firstError = status .. " " .. body:gsub("%s+$", "") end
end

function responseWithSeats(status, headers, body)
  count[status] = (count[status] or 0) + 1
  if status == 200 then
    seats[#seats + 1] = tonumber(body:match('"seat":(%-?%d+)'))
  elseif not EXPECTED[status] and not firstError then
    firstError = status .. " " .. body:gsub("%s+$", "")
  end
end

local function quoted(text)
  return '"' .. text:sub(1, 300):gsub('[%c"\\\128-\255]', function(c) return ("\\u%04x"):format(c:byte()) end) .. '"'
end

local function pairsOf(map, keys)
  local parts = {}
  for _, key in ipairs(keys) do parts[#parts + 1] = ('"%s":%.0f'):format(key, map[key] or 0) end
  return "{" .. table.concat(parts, ",") .. "}"
end

function done(summary, latency, requests)
  local outcomes, failure, sold = {}, nil, {}
  for _, thread in ipairs(threads) do
    failure = failure or thread:get("firstError")
    for status, times in pairs(thread:get("statuses")) do
      local outcome = status == 0 and "issued" or OUTCOME[status] or "error"
      outcomes[outcome] = (outcomes[outcome] or 0) + times
    end
    for _, seat in ipairs(thread:get("seats")) do sold[#sold + 1] = seat end
  end
  local marks = {}
  for _, p in ipairs(PERCENTILES) do
    marks[#marks + 1] = ('[%g,%.3f]'):format(p, latency:percentile(p) / 1000)
  end
  io.write("\nTURNSTILE {",
    '"seconds":', ("%.6f"):format(summary.duration / 1e6),
    ',"requests":', ("%.0f"):format(summary.requests),
    ',"issued":', ("%.0f"):format(outcomes.issued),
    ',"answers":', pairsOf(outcomes, { "sold", "sold_out", "busy", "unknown", "error" }),
    ',"socket_errors":', pairsOf(summary.errors, { "connect", "read", "write", "timeout" }),
    ',"latency_ms":{"mean":', ("%.3f"):format(latency.mean / 1000), ',"max":', ("%.3f"):format(latency.max / 1000),
    ',"percentiles":[', table.concat(marks, ","), "]}",
    ',"first_error":', failure and quoted(failure) or "null",
    ',"seats":[', table.concat(sold, ","), "]}\n")
end
