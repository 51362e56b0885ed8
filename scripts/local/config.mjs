// Turns the wrangler configs themselves into Miniflare's options: there is no second copy of any binding.
import { readdirSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";

import { unstable_readConfig } from "wrangler";
import { supportedCompatibilityDate } from "./miniflare.mjs";
import { Mistake } from "./mistake.mjs";

export function readConfigs(paths) {
  const configs = paths.map(readConfig);
  const twice = configs.find(({ name }, at) => configs.findIndex((other) => other.name === name) !== at);
  if (twice) throw new Mistake(`${basename(twice.configPath)}: another config has the name ${twice.name} already`);
  return configs;
}

function readConfig(path) {
  let config;
  try {
    config = unstable_readConfig({ config: resolve(path) }, { hideWarnings: true });
  } catch (error) {
    const line = error.location?.line ? `, line ${error.location.line}` : "";
    throw new Mistake(`${basename(path)}${line}: ${error.message.trim()}`);
  }
  if (!config.name || !config.main?.endsWith(".py")) throw new Mistake(`${basename(path)}: needs a name and a Python main`);
  return config;
}

export const standardConfigs = (root) =>
  readdirSync(root)
    .filter((name) => /^wrangler(\..+)?\.toml$/.test(name))
    .sort((a, b) => a.length - b.length || a.localeCompare(b)) // wrangler.toml, the main Worker, first
    .map((name) => resolve(root, name));

// The names under which local state is kept: as in wrangler, so that `wrangler kv key get --local` sees the same data.
const kvId = ({ binding, id }) => id ?? binding;
export const d1Id = ({ binding, database_id }) => database_id ?? binding;
const r2Id = ({ binding, bucket_name }) => bucket_name ?? binding;

const record = (items, key, value) => Object.fromEntries((items ?? []).map((item) => [key(item), value(item)]));
const byBinding = (items, value) => record(items, ({ binding }) => binding, value);

// Pairs of class name and kind that workerd must find exported by this Worker's main module.
export function exportedClasses(config, all) {
  const own = ({ script_name }) => !script_name || script_name === config.name;
  const entrypoints = all
    .flatMap(({ services }) => services ?? [])
    .filter(({ service, entrypoint }) => service === config.name && entrypoint)
    .map(({ entrypoint }) => [entrypoint, "WorkerEntrypoint"]);
  return [
    ["Default", "WorkerEntrypoint"],
    ...entrypoints,
    ...config.durable_objects.bindings.filter(own).map(({ class_name }) => [class_name, "DurableObject"]),
    ...config.workflows.filter(own).map(({ class_name }) => [class_name, "WorkflowEntrypoint"]),
  ].filter(([name], at, pairs) => pairs.findIndex(([other]) => other === name) === at);
}

const sqliteClasses = (config) => new Set((config.migrations ?? []).flatMap(({ new_sqlite_classes = [] }) => new_sqlite_classes));

export function workerOptions(config, all, vars) {
  const running = (name) => all.some((other) => other.name === name);
  const sqlite = Object.fromEntries(all.map((other) => [other.name, sqliteClasses(other)]));
  return {
    name: config.name,
    compatibilityDate: [config.compatibility_date, supportedCompatibilityDate].sort()[0],
    // The host is JavaScript; the flags that switch on Cloudflare's own Python would take the module over.
    compatibilityFlags: config.compatibility_flags.filter((flag) => !flag.startsWith("python_workers")),
    bindings: { ...config.vars, ...vars },
    kvNamespaces: byBinding(config.kv_namespaces, kvId),
    d1Databases: byBinding(config.d1_databases, d1Id),
    r2Buckets: byBinding(config.r2_buckets, r2Id),
    queueProducers: byBinding(config.queues.producers, ({ queue, delivery_delay }) => ({ queueName: queue, deliveryDelay: delivery_delay })),
    queueConsumers: record(config.queues.consumers, ({ queue }) => queue, queueConsumer),
    durableObjects: record(config.durable_objects.bindings, ({ name }) => name, ({ class_name, script_name }) => ({
      className: class_name,
      scriptName: script_name,
      useSQLite: sqlite[script_name ?? config.name]?.has(class_name) ?? false,
    })),
    workflows: byBinding(config.workflows, ({ name, class_name, script_name }) => ({ name, className: class_name, scriptName: script_name })),
    serviceBindings: byBinding((config.services ?? []).filter(({ service }) => running(service)), ({ service, entrypoint }) => ({ name: service, entrypoint })),
    analyticsEngineDatasets: byBinding(config.analytics_engine_datasets, ({ binding, dataset }) => ({ dataset: dataset ?? binding })),
    tails: (config.tail_consumers ?? []).map(({ service }) => service).filter(running),
    ...(config.assets?.directory && { assets: assets(config) }),
  };
}

const queueConsumer = ({ max_batch_size, max_batch_timeout, max_retries, dead_letter_queue, retry_delay }) => ({
  maxBatchSize: max_batch_size,
  maxBatchTimeout: max_batch_timeout,
  maxRetries: max_retries,
  deadLetterQueue: dead_letter_queue,
  retryDelay: retry_delay,
});

function assets({ assets: { directory, binding, html_handling, not_found_handling, run_worker_first }, configPath, name }) {
  return {
    workerName: name,
    directory: resolve(dirname(configPath), directory),
    binding,
    routerConfig: {
      has_user_worker: true,
      invoke_user_worker_ahead_of_assets: run_worker_first === true,
      ...(Array.isArray(run_worker_first) && { static_routing: { user_worker: run_worker_first } }),
    },
    assetConfig: { html_handling, not_found_handling },
  };
}
