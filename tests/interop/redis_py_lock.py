"""redis-py's Lock, on the lock that redis-set-ex-lua takes.

usage: redis_py_lock.py PORT NAME hold MS     takes it, says "held", keeps it, says "released"
       redis_py_lock.py PORT NAME try MS      waits at most so long, says "got" or "refused"
"""
import sys
import time

try:
    import redis
except ImportError:
    sys.exit("python3-redis is missing: install it with ./turnstile setup --test")


def main():
    port, name, what, millis = int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
    client = redis.Redis(host="127.0.0.1", port=port, socket_timeout=5)
    lock = client.lock(name, timeout=10, sleep=0.02)
    if what == "hold":
        if not lock.acquire(blocking_timeout=5):
            sys.exit("not taken in 5 s")
        print("held", flush=True)
        time.sleep(millis / 1000)
        lock.release()
        print("released", flush=True)
    elif lock.acquire(blocking_timeout=millis / 1000):
        lock.release()
        print("got", flush=True)
    else:
        print("refused", flush=True)


main()
