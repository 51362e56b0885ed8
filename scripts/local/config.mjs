// Turns the wrangler configs into Miniflare's options, so that no binding is configured twice.
import { readdirSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";

import { unstable_readConfig } from "wrangler";
import { supportedCompatibilityDate } from "./miniflare.mjs";
import { UserError } from "./user_error.mjs";

export function readConfigs(paths) {
  const configs = paths.map(readConfig);
  const duplicate = configs.find(({ name }, at) => configs.findIndex((other) => other.name === name) !== at);
  if (duplicate) throw new UserError(`${basename(duplicate.configPath)}: another config already has the name ${duplicate.name}`);
  return configs;
}

function readConfig(path) {
  let config;
  try {
    config = unstable_readConfig({ config: resolve(path) }, { hideWarnings: true });
  } catch (error) {
    const line = error.location?.line ? `, line ${error.location.line}` : "";
    throw new UserError(`${basename(path)}${line}: ${error.message.trim()}`);
  }
  if (!config.name || !config.main?.endsWith(".py")) throw new UserError(`${basename(path)}: set name, and set main to a Python file`);
  return config;
}

export const listConfigs = (root) =>
  readdirSync(root)
    .filter((name) => /^wrangler(\..+)?\.toml$/.test(name))
    .sort((a, b) => a.length - b.length || a.localeCompare(b)) // wrangler.toml, the main Worker, comes first
    .map((name) => resolve(root, name));

// Local state has the same names as in wrangler, so that `wrangler kv key get --local` sees the same data.
const kvId = ({ binding, id }) => id ?? binding;
export const d1Id = ({ binding, database_id }) => database_id ?? binding;
const r2Id = ({ binding, bucket_name }) => bucket_name ?? binding;

const toRecord = (items, key, value) => Object.fromEntries((items ?? []).map((item) => [key(item), value(item)]));
const byBinding = (items, value) => toRecord(items, ({ binding }) => binding, value);

export const listKvIds = (config) => byBinding(config.kv_namespaces, kvId);

// Returns pairs of name and kind for the classes that this Worker's main module must export.
export function listExportedClasses(config, all) {
  const isOwn = ({ script_name }) => !script_name || script_name === config.name;
  const entrypoints = all
    .flatMap(({ services }) => services ?? [])
    .filter(({ service, entrypoint }) => service === config.name && entrypoint)
    .map(({ entrypoint }) => [entrypoint, "WorkerEntrypoint"]);
  return [
    ["Default", "WorkerEntrypoint"],
    ...entrypoints,
    ...config.durable_objects.bindings.filter(isOwn).map(({ class_name }) => [class_name, "DurableObject"]),
    ...config.workflows.filter(isOwn).map(({ class_name }) => [class_name, "WorkflowEntrypoint"]),
  ].filter(([name], at, pairs) => pairs.findIndex(([other]) => other === name) === at);
}

// The cache in front of a Worker is an object of the front, which keeps its copies in memory.
export const isCached = ({ cache }) => cache?.enabled === true;
export const LOCAL_CACHE_CLASS = { className: "LocalCache", unsafePreventEviction: true, useSQLite: true };
export const FRONT = "local-front";

const listSqliteClasses = (config) => new Set((config.migrations ?? []).flatMap(({ new_sqlite_classes = [] }) => new_sqlite_classes));

export function buildWorkerOptions(config, all, vars) {
  const isServed = (name) => all.some((other) => other.name === name);
  const sqlite = Object.fromEntries(all.map((other) => [other.name, listSqliteClasses(other)]));
  return {
    name: config.name,
    compatibilityDate: [config.compatibility_date, supportedCompatibilityDate].sort()[0],
    // The host is JavaScript. With these flags, workerd would load the module as Cloudflare's own Python.
    compatibilityFlags: [...config.compatibility_flags.filter((flag) => !flag.startsWith("python_workers")), "nodejs_als"], // for limits.mjs
    bindings: { ...config.vars, ...vars },
    kvNamespaces: listKvIds(config),
    d1Databases: byBinding(config.d1_databases, d1Id),
    r2Buckets: byBinding(config.r2_buckets, r2Id),
    queueProducers: byBinding(config.queues.producers, ({ queue, delivery_delay }) => ({ queueName: queue, deliveryDelay: delivery_delay })),
    queueConsumers: toRecord(config.queues.consumers, ({ queue }) => queue, toQueueConsumer),
    durableObjects: {
      ...toRecord(config.durable_objects.bindings.filter(({ script_name }) => !script_name || isServed(script_name)), ({ name }) => name, ({ class_name, script_name }) => ({
        className: class_name,
        scriptName: script_name,
        useSQLite: sqlite[script_name ?? config.name]?.has(class_name) ?? false,
      })),
      ...(isCached(config) && { LOCAL_CACHE: { ...LOCAL_CACHE_CLASS, scriptName: FRONT } }),
    },
    workflows: byBinding(config.workflows, ({ name, class_name, script_name }) => ({ name, className: class_name, scriptName: script_name })),
    serviceBindings: byBinding((config.services ?? []).filter(({ service }) => isServed(service)), ({ service, entrypoint }) => ({ name: service, entrypoint })),
    analyticsEngineDatasets: byBinding(config.analytics_engine_datasets, ({ binding, dataset }) => ({ dataset: dataset ?? binding })),
    tails: (config.tail_consumers ?? []).map(({ service }) => service).filter(isServed),
    ...(config.assets?.directory && { assets: buildAssetOptions(config) }),
  };
}

const toQueueConsumer = ({ max_batch_size, max_batch_timeout, max_retries, dead_letter_queue, retry_delay }) => ({
  maxBatchSize: max_batch_size,
  maxBatchTimeout: max_batch_timeout,
  maxRetries: max_retries,
  deadLetterQueue: dead_letter_queue,
  retryDelay: retry_delay,
});

function buildAssetOptions({ assets: { directory, binding, html_handling, not_found_handling, run_worker_first }, configPath, name }) {
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
