const json = (status, body) =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json", "cache-control": "no-store" } });

// Digests all have one length, and how long it takes to compare them says nothing about the token.
async function holds(request, token) {
  if (!token) return false; // a route without a token is closed, not open
  const digest = async (text) => new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  const [given, wanted] = await Promise.all([digest(request.headers.get("authorization") ?? ""), digest(`Bearer ${token}`)]);
  return given.every((byte, i) => byte === wanted[i]);
}

// What describe() gives differs by edition: a list, an object by name, or the only workspace.
function entryOf(snapshot, name) {
  const all = snapshot?.workspaces ?? snapshot?.workspace ?? snapshot;
  if (typeof all?.state === "string") return name === (all.name ?? "workspace") ? all : undefined;
  return Array.isArray(all) ? all.find((e) => (e.name ?? "workspace") === name) : Object.hasOwn(all ?? {}, name) ? all[name] : undefined;
}

export function operatorRoutes({ list, registryOf, readToken, actToken, reset = (registry, name) => registry.reset(name) }) {
  const idle = () => json(404, { error: "no active session" });

  async function describe(id) {
    const registry = await registryOf(id);
    const snapshot = await registry?.describe();
    return snapshot === undefined ? idle() : json(200, { sessionId: id, workspaces: snapshot?.workspaces ?? snapshot?.workspace ?? snapshot });
  }

  async function resetOne(id, name) {
    const registry = await registryOf(id);
    const snapshot = await registry?.describe();
    if (snapshot === undefined) return idle();
    const entry = entryOf(snapshot, name);
    if (!entry) return json(404, { error: "no such workspace" });
    if (entry.state !== "failed") return json(409, { error: `its state is ${entry.state}, not failed` });
    await reset(registry, name);
    return json(202, { accepted: true });
  }

  async function route(request) {
    const url = new URL(request.url);
    let path;
    try {
      path = url.pathname.split("/").slice(1).map(decodeURIComponent);
    } catch {
      return json(400, { error: "the path is not correctly escaped" });
    }
    const [area, kind, id, below, name, verb] = path;
    const reads = request.method === "GET" && path.length <= 3;
    const resets = request.method === "POST" && path.length === 6 && below === "workspaces" && verb === "reset";
    if (area !== "operator" || kind !== "sessions" || !(reads || resets)) return json(404, { error: "no such route" });
    if (!(await holds(request, reads ? readToken : actToken))) return json(401, { error: "not with this token" });
    if (resets) return resetOne(id, name);
    return id === undefined ? json(200, await list(url.searchParams.get("cursor"))) : describe(id);
  }

  // What went wrong inside a reset may have happened after it took effect, which is what a 500 says.
  return (request) => route(request).catch((e) => json(500, { error: String(e?.message ?? e) }));
}
