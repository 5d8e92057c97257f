// node-redlock, on the lock that redis-redlock takes.
//
// usage: node node_redlock.mjs MODULES PORT,PORT,… NAME hold MS    takes it, says "held", keeps it, says "released"
//        node node_redlock.mjs MODULES PORT,PORT,… NAME try MS     tries once, says "got" or "refused"
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";

const [modules, ports, name, what, millis] = process.argv.slice(2);
const load = createRequire(modules + "/");
let Redis, Redlock;
try {
  Redis = load("ioredis");
  Redlock = load("redlock").default;
} catch (error) {
  console.log(`the npm package redlock is missing: install it with ./turnstile setup --test (${error.code})`);
  process.exit(3);
}

const clients = ports.split(",").map((port) => new Redis({ host: "127.0.0.1", port: Number(port), maxRetriesPerRequest: 1 }));
const redlock = new Redlock(clients, { retryCount: 0 });
let code = 0;
try {
  const lock = await redlock.acquire([name], 10_000);
  console.log(what === "hold" ? "held" : "got");
  if (what === "hold") await sleep(Number(millis));
  await lock.release();
  if (what === "hold") console.log("released");
} catch (error) {
  console.log(what === "try" ? "refused" : `not taken: ${error.message}`);
  code = what === "try" ? 0 : 1;
}
for (const client of clients) client.disconnect();
process.exit(code);
