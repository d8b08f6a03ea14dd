// Plays the vendor's own client against worlds of the demo: node contract.mjs '{"zombie": {"catalyst-usc.agentuity.cloud": "http://127.0.0.1:1", ...}, ...}'.
// The client uses the vendor's addresses; fetch leads them to this machine, so that the client's own rule for a wrong region is played too.
import assert from "node:assert/strict";
import { getServiceStats } from "@agentuity/core";
import { APIClient } from "@agentuity/core/api";
import { CoderClient } from "@agentuity/core/coder";
import { listRegions } from "@agentuity/core/region";
import { cliSandboxList, sandboxDownloadArchive, sandboxGet, sandboxGetStatus, sandboxList, sandboxResolve, SandboxClient } from "@agentuity/core/sandbox";

const worlds = JSON.parse(process.argv[2]);
const orgId = process.argv[3];
const cliKey = "demo-cli-key", sdkKey = "demo-sdk-key";
const quiet = Object.fromEntries(["trace", "debug", "info", "warn", "error", "fatal"].map((l) => [l, () => {}]));

let hosts;
const traces = new Set();
const directly = globalThis.fetch;
globalThis.fetch = async (address, init) => {
  const url = new URL(address);
  const base = hosts[url.host];
  assert(base, `the client asks ${url.host}`);
  const answer = await directly(base + url.pathname + url.search, init);
  if (!url.pathname.startsWith("/nowhere")) {
    assert.match(answer.headers.get("x-session-id") ?? "", /^sess_[0-9a-f]{32}$/, `${url.pathname} has no trace id`);
    traces.add(answer.headers.get("x-session-id"));
  }
  return answer;
};

const usc = "https://catalyst-usc.agentuity.cloud";
const api = (key = cliKey, base = usc) => new APIClient(base, quiet, key, { maxRetries: 0 });
const client = () => new SandboxClient({ apiKey: cliKey, url: usc, orgId, logger: quiet });
const hub = () => new CoderClient({ apiKey: cliKey, region: "usc", orgId, logger: quiet });
const text = async (stream) => await new Response(stream).text();
const fails = async (what, doing, check) => {
  await assert.rejects(doing, (e) => {
    assert(check(e), `${what}: ${e.name} ${e._tag} ${e.status} ${e.message}`);
    return true;
  });
};
const status = (n, words = "") => (e) => e.status === n && e.message.includes(words) && /^sess_/.test(e.sessionId);

let passed = 0;
const check = async (world, name, doing) => {
  hosts = worlds[world];
  await doing();
  passed++;
};
const one = async (name) => (await client().list({ name })).sandboxes[0];

await check("zombie", "regions and rows of the command line", async () => {
  const central = api(cliKey, "https://api.agentuity.com");
  assert.deepEqual((await listRegions(central)).map((r) => r.region), ["usc", "use"]);
  const all = await cliSandboxList(central, { limit: 100 });
  assert(all.total === all.sandboxes.length && all.total > 8);
  for (const region of ["usc", "use"]) assert(all.sandboxes.some((s) => s.region === region));
  const at = await sandboxResolve(central, all.sandboxes[0].id);
  assert.equal(at.orgId, orgId);
  assert.equal((await sandboxResolve(api(), at.id)).region, at.region);
  await fails("an unknown id", sandboxResolve(central, "sbx_none"), status(404, "not found"));
  await fails("an SDK key", cliSandboxList(api(sdkKey)), status(401));
  const { services } = await getServiceStats(central, orgId, { service: "sandbox", orgIdHeader: orgId });
  assert(services.sandbox.totalActive > 0 && services.sandbox.totalExecutions > 0);
});

await check("zombie", "keys and organisations", async () => {
  await fails("no such key", sandboxList(api("wrong")), status(401, "unauthorized"));
  await fails("another organisation", sandboxList(api(), { orgId: "org_other" }), status(403));
  assert((await sandboxList(api(sdkKey))).total > 0);
});

await check("zombie", "pages, filters and order", async () => {
  const all = await client().list({ limit: 100 });
  assert(all.sandboxes.every((s) => s.region === "usc") && all.total === all.sandboxes.length);
  const ids = [];
  for (let offset = 0; offset < all.total; offset += 2) ids.push(...(await client().list({ limit: 2, offset })).sandboxes.map((s) => s.sandboxId));
  assert.deepEqual(ids, all.sandboxes.map((s) => s.sandboxId));
  const suspended = await client().list({ status: "suspended" });
  assert(suspended.total > 0 && suspended.total < all.total && suspended.sandboxes.every((s) => s.status === "suspended"));
  assert((await client().list({ live: true })).sandboxes.every((s) => s.status !== "suspended"));
  const byName = (await client().list({ sort: "name", direction: "asc", limit: 100 })).sandboxes.map((s) => s.name);
  assert.deepEqual(byName, byName.toSorted());
  assert.equal((await client().list({ mode: "interactive", limit: 1 })).sandboxes.length, 1);
  await fails("an unknown order", client().list({ sort: "colour" }), status(400));
});

await check("zombie", "a sandbox of another region", async () => {
  const { sandboxes } = await cliSandboxList(api(), { limit: 100 });
  const away = sandboxes.find((s) => s.region === "use");
  const info = await sandboxGet(api(), { sandboxId: away.id, orgId }).catch((e) => e);
  // The client repeats the request at the right base, without the organisation's key being lost.
  assert.equal(info.region, "use");
  hosts = { ...hosts, "catalyst-use.agentuity.cloud": hosts["catalyst-usc.agentuity.cloud"] };
  await fails("twice the wrong region", sandboxGet(api(), { sandboxId: away.id }), (e) => e._tag === "MisdirectedRequestError" && e.region === "use");
});

await check("zombie", "the zombie reports idle and nothing works", async () => {
  const row = await one("coder-session");
  const c = client(), id = row.sandboxId;
  assert.equal(row.status, "idle");
  assert.equal((await c.get(id)).status, "idle");
  assert.equal((await sandboxGetStatus(api(), { sandboxId: id, orgId })).status, "idle");
  const { executions } = await c.listExecutions(id);
  assert.deepEqual(executions.map((e) => e.status), ["queued", "queued", "completed"]);
  assert(executions[0].startedAt === undefined && executions[0].command.join(" ").includes("USR1"));
  const { jobs } = await c.listJobs(id);
  assert(jobs.length === 1 && jobs[0].status === "running" && jobs[0].completedAt === null);
  const { events } = await c.listEvents(id, { limit: 100 });
  assert.deepEqual(events.map((e) => e.type), ["create", "lifecycle:started", "suspend", "checkpoint-received", "lifecycle:resumed", "evacuation", "suspend", "lifecycle:reconcile"]);
  assert.equal(events[4].event.deferred, true);
  assert.equal((await c.listEvents(id, { limit: 1, direction: "desc" })).events[0].event.previous_status, "suspended");
  const zombie = await c.connect(id);
  const mount = `readdirent /working/sandbox/${id}/cow-merged: no such file or directory`;
  await fails("a list", zombie.listFiles("/home/agentuity"), status(404, mount));
  await fails("a read", zombie.readFile("workspace/README.md"), (e) => e.message.includes("404") && e.message.includes("cow-merged"));
  // The Hub met two envelopes of a 500 before: the third is no JSON.
  for (const words of ["HTTP 500", "Internal Server Error", "Internal Server Error", "HTTP 500"]) {
    await fails("an execute", zombie.execute({ command: ["true"] }), (e) => e.status === 500 && e.message.includes(words));
  }
  assert.equal((await c.listExecutions(id)).executions.filter((e) => e.status === "queued").length, 6);
  await fails("a job", c.createJob(id, { command: ["true"] }), status(500));
  assert.equal((await c.listJobs(id)).jobs[0].status, "pending");
});

await check("zombie", "the Hub tells the session and its driver", async () => {
  const h = hub();
  assert.equal(await h.getUrl(), "https://hub.example.invalid");
  const { sessions, total } = await h.listSessions({ limit: 100 });
  assert(total === sessions.length && total > 2);
  const zombie = sessions.find((s) => s.label === "Fix flaky build");
  assert(zombie.status === "error" && zombie.bucket === "paused" && zombie.wakeAvailable);
  assert.match((await h.getSession(zombie.sessionId)).error, /driver did not connect within 120000ms/);
  assert.deepEqual((await h.listParticipants(zombie.sessionId)).participants, []);
  const healthy = sessions.find((s) => s.status === "active");
  assert.equal((await h.listParticipants(healthy.sessionId)).participants[0].role, "lead");
  assert((await h.listEventHistory(zombie.sessionId)).events.length > 0);
  assert((await h.listConnectableSessions()).sessions.some((s) => s.sessionId === healthy.sessionId));
  const raw = await (await fetch(`https://hub.example.invalid/api/hub/sessions?limit=100`, { headers: { authorization: `Bearer ${cliKey}` } })).json();
  const join = raw.sessions.sandbox.find((s) => s.sessionId === zombie.sessionId);
  assert(join.sandboxId === (await one("coder-session")).sandboxId && join.wsConnected === false);
  await fails("an unknown session", h.getSession("codesess_none"), status(404));
  assert.equal((await h.resumeSession(zombie.sessionId)).status, "resuming");
  await fails("a second wake", new CoderClient({ apiKey: "wrong", url: "https://hub.example.invalid", logger: quiet }).listSessions(), status(401));
});

await check("calm", "a sandbox from its creation to its end", async () => {
  const c = client();
  const made = await c.create({ name: "throwaway", runtime: "bun:1", metadata: { purpose: "contract" } });
  assert.equal(made.status, "creating");
  assert.equal((await sandboxGetStatus(api(), { sandboxId: made.id, orgId, waitForStatus: ["idle"], waitMs: 20_000 })).status, "idle");
  assert.deepEqual((await made.get()).metadata, { purpose: "contract" });
  assert.equal(await made.writeFiles([{ path: "notes/a.txt", content: Buffer.from("seven") }]), 1);
  assert.equal(await text(await made.readFile("notes/a.txt")), "seven");
  assert.deepEqual((await made.listFiles("/home/agentuity/notes")).map((f) => [f.path, f.size, f.isDir]), [["a.txt", 5, false]]);
  assert.equal((await made.listFiles("/home/agentuity")).find((f) => f.path === "current").linkTarget, "workspace");
  await fails("no such directory", made.listFiles("/nowhere"), status(404));
  await made.mkDir("empty", true);
  assert.deepEqual(await made.rmDir("empty"), { found: true });
  assert.deepEqual(await made.rmFile("empty"), { found: false });
  assert.deepEqual(await made.setEnv({ A: "1", B: null }), { A: "1" });
  const ran = await made.execute({ command: ["cat", "notes/a.txt"] });
  assert(ran.status === "completed" && ran.exitCode === 0);
  assert.equal(await (await fetch(ran.stdoutStreamUrl)).text(), "seven");
  assert.equal((await made.execute({ command: ["bash", "-lc", "exit 3"] })).exitCode, 3);
  assert.equal((await c.getExecution(ran.executionId)).command[0], "cat");
  assert((await text(await sandboxDownloadArchive(api(), { sandboxId: made.id, path: "notes", orgId }))).length > 50);
  assert((await text(await sandboxDownloadArchive(api(), { sandboxId: made.id, format: "zip", orgId }))).startsWith("PK"));
  const job = await c.createJob(made.id, { command: ["bun", "run", "serve"] });
  assert.equal((await job.get()).status, "running");
  assert.equal((await job.stop(true)).status, "cancelled");
  const disk = await c.createDiskCheckpoint(made.id, "before");
  await fails("the same name", c.createDiskCheckpoint(made.id, "before"), status(409));
  await made.rmFile("notes/a.txt");
  await disk.restore();
  assert.equal(await text(await made.readFile("notes/a.txt")), "seven");
  const kept = await c.createSnapshot(made.id, { name: "kept" });
  assert.equal((await c.tagSnapshot(kept.snapshotId, "v1")).tag, "v1");
  assert.equal((await c.listSnapshots({ sandboxId: made.id })).total, 1);
  const paused = await made.pause();
  assert(paused.status === "suspended" && paused.checkpointId.startsWith("ckpt_") && Date.parse(paused.terminatesAt));
  await fails("files of a sleeping one", made.listFiles("/"), status(409));
  await fails("checkpoints of a sleeping one", c.listDiskCheckpoints(made.id), status(409, "suspended"));
  await made.resume();
  await sandboxGetStatus(api(), { sandboxId: made.id, orgId, waitForStatus: "idle", waitMs: 20_000 });
  assert.equal(await text(await made.readFile("notes/a.txt")), "seven");
  await fails("an awake one", made.resume(), status(409));
  await disk.delete();
  const copy = await c.create({ snapshot: kept.snapshotId });
  await sandboxGetStatus(api(), { sandboxId: copy.id, orgId, waitForStatus: "idle", waitMs: 20_000 });
  assert.equal(await text(await copy.readFile("notes/a.txt")), "seven");
  await copy.pause();
  assert.equal((await c.connect(copy.id).then((s) => s.execute({ command: ["true"] }))).exitCode, 0); // wakes it
  for (const s of [made, copy]) {
    await s.destroy();
    await fails("a destroyed one", s.get(), status(404));
  }
  await c.deleteSnapshot(kept.snapshotId);
  assert((await sandboxList(api(), { deletedOnly: true })).sandboxes.some((s) => s.sandboxId === made.id));
  assert((await c.listRuntimes()).runtimes.some((r) => r.name === "bun:1"));
});

await check("calm", "the busy are refused and a wake brings the driver back", async () => {
  const c = client();
  const made = await c.create({ name: "busy" });
  await sandboxGetStatus(api(), { sandboxId: made.id, orgId, waitForStatus: "idle", waitMs: 20_000 });
  const first = made.execute({ command: ["sleep", "6"] });
  await sandboxGetStatus(api(), { sandboxId: made.id, orgId, waitForStatus: "running", waitMs: 20_000 });
  await fails("a second execution", made.execute({ command: ["true"] }), (e) => e._tag === "SandboxBusyError");
  assert.equal((await first).exitCode, 0);
  const asleep = (await hub().listSessions({ limit: 100 })).sessions.find((s) => s.status === "paused");
  const awake = await hub().prepareSessionForRemoteAttach(asleep.sessionId, { pollIntervalMs: 100 });
  assert.equal(awake.runtimeAvailable, true);
  assert.equal((await hub().archiveSession(asleep.sessionId)).status, "archived");
  await fails("an archived session", hub().resumeSession(asleep.sessionId), (e) => e.status === 409);
});

await check("no-checkpoint", "a resume that is refused for ever", async () => {
  const { sandboxId } = await one("old-session");
  await fails("a resume", client().resume(sandboxId), status(409, "has no checkpoint data"));
  await fails("an execute", client().connect(sandboxId).then((s) => s.execute({ command: ["true"] })), (e) => e._tag === "SandboxBusyError");
  assert.equal((await client().get(sandboxId)).status, "suspended");
});

await check("resume-race", "a resume that is refused for now", async () => {
  const { sandboxId } = await one("nightly-refactor");
  await fails("a resume", client().resume(sandboxId), status(409, "A conflict occurred"));
  assert.equal((await sandboxGetStatus(api(), { sandboxId, orgId, waitForStatus: "idle", waitMs: 30_000 })).status, "idle");
});

assert(traces.size > 60);
console.log(`${passed} passed, 0 failed`);
