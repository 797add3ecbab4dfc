// Drains jobs with graphile-worker as its makers tune it: a local queue, batched completion.
// usage: node drain.mjs URL JOBS [plain]        prints "rate JOBS_PER_SECOND"
import { Logger, run, runMigrations } from "graphile-worker";
import pg from "pg";

const [url, wanted, how] = process.argv.slice(2);
const jobs = Number(wanted);
const pgPool = new pg.Pool({ connectionString: url, max: 30 });
pgPool.on("error", () => {});
pgPool.on("connect", (client) => client.on("error", () => {}));
const logger = new Logger(() => () => {});
const tuned = {
  worker: {
    localQueue: { size: 500 },
    completeJobBatchDelay: 0,
    failJobBatchDelay: 0,
    concurrentJobs: 24,
  },
};

await runMigrations({ pgPool, logger });
await pgPool.query("TRUNCATE graphile_worker._private_jobs");
const payload = "x".repeat(256 - 8);
for (let first = 1; first <= jobs; first += 50_000) {
  await pgPool.query(
    `SELECT 1 FROM graphile_worker.add_jobs(ARRAY(SELECT json_populate_record(
       NULL::graphile_worker.job_spec, json_build_object('identifier', 'noop', 'payload',
       json_build_object('p', $3::text))) FROM generate_series($1::int, $2::int) i))`,
    [first, Math.min(first + 49_999, jobs), payload],
  );
}
await pgPool.query("VACUUM ANALYZE graphile_worker._private_jobs");

let done = 0;
let finish;
const drained = new Promise((resolve) => (finish = resolve));
const noop = async () => {
  if (++done === jobs) finish();
};
const start = process.hrtime.bigint();
const runner = await run({
  pgPool,
  logger,
  noHandleSignals: true,
  concurrency: 24,
  taskList: { noop },
  ...(how === "plain" ? {} : { preset: tuned }),
});
await drained;
const seconds = Number(process.hrtime.bigint() - start) / 1e9;
console.log(`rate ${(jobs / seconds).toFixed(0)}`);
await runner.stop();
process.exit(0);
