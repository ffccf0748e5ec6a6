# One namespace of counters, their storage on local disk. Address and folder come from the command line.
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "counters", worker = .counters),
    (name = "disk", disk = (path = "storage", writable = true)),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "counters")],
);

const counters :Workerd.Worker = (
  modules = [(name = "counter.js", esModule = embed "counter.js")],
  compatibilityDate = "2026-01-01",
  durableObjectNamespaces = [(className = "Counter", uniqueKey = "counter", enableSql = true)],
  durableObjectStorage = (localDisk = "disk"),
  bindings = [(name = "counters", durableObjectNamespace = "Counter")],
);
