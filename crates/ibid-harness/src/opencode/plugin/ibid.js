// Ibid's plugin for OpenCode, installed by `ibid plugin install opencode`.
//
// It tells the hook command below which session reached which boundary: ids, the working
// directory and the model. What people and models write is not looked at, and nothing is sent
// anywhere else. It changes nothing in OpenCode, prints nothing, and a hook that is missing, fails
// or hangs is not noticed.
import { spawn, spawnSync } from "node:child_process"

const COMMAND = "__IBID_HOOK_WORDS__"

// From here to the next mark the text is the same in every plugin of Ibid.
// One queue for the whole program, however many copies of this file it loads. Hooks run one at a
// time, so that what is announced in order is recorded in order; one that does not end is stopped.
const HOOK_MS = 3000
const EXIT_MS = 1500
const WAITING = 256

function createReporter() {
  const waiting = []
  const emptied = []
  let running = null

  const next = () => {
    if (running) return
    const report = waiting.shift()
    if (!report) {
      for (const done of emptied.splice(0)) done()
      return
    }
    running = report
    let child, limit
    const ended = () => {
      if (running !== report) return
      running = null
      clearTimeout(limit)
      next()
    }
    const start = (text) => {
      if (running !== report) return
      report.started = true
      try {
        if (!text) return ended()
        const [program, ...words] = report.command
        child = spawn(program, words, { stdio: ["pipe", "ignore", "ignore"], windowsHide: true })
        child.on("error", ended)
        child.on("close", ended)
        child.stdin.on("error", () => {})
        child.stdin.end(text)
        child.unref()
      } catch {
        ended()
      }
    }
    limit = setTimeout(() => {
      try {
        if (child) child.kill("SIGKILL")
      } catch {}
      ended()
    }, HOOK_MS)
    if (limit.unref) limit.unref()
    const text = report.text()
    if (text && text.then) text.then(start, ended)
    else start(text)
  }

  // What is left when the program ends is reported while it waits, for no longer than EXIT_MS.
  const flush = () => {
    const until = Date.now() + EXIT_MS
    if (running && !running.started) waiting.unshift(running)
    for (const report of waiting.splice(0)) {
      const left = until - Date.now()
      if (left <= 0) return
      try {
        const input = report.known()
        const [program, ...words] = report.command
        if (input) spawnSync(program, words, { input, stdio: ["pipe", "ignore", "ignore"], timeout: left, killSignal: "SIGKILL", windowsHide: true })
      } catch {}
    }
  }
  process.on("exit", flush)

  return {
    // `known()` makes the text from what is known at once; `text()` may look up more, and promise it.
    add(command, known, text = known) {
      if (!Array.isArray(command) || waiting.length >= WAITING) return
      waiting.push({ command, known, text, started: false })
      next()
    },
    // Resolves when everything has been reported, or after EXIT_MS.
    emptied: () =>
      new Promise((done) => {
        if (!running && !waiting.length) return done()
        const limit = setTimeout(done, EXIT_MS)
        emptied.push(() => {
          clearTimeout(limit)
          done()
        })
      }),
  }
}
// To here.

const SESSIONS = 4096
const DEPTH = 32
const LOOKUP_MS = 500

const shared = (globalThis[Symbol.for("ibid.lifecycle.opencode")] ??= {
  reporter: createReporter(),
  // What was announced already: a second copy of this file is called with the same objects.
  seen: new WeakSet(),
  // By session: its parent (null: it has none; absent: not known), agent and turn.
  sessions: new Map(),
})

function isNew(object) {
  if (!object || typeof object !== "object" || shared.seen.has(object)) return false
  shared.seen.add(object)
  return true
}

function text(value) {
  return typeof value === "string" ? value : null
}

function session(id) {
  let known = shared.sessions.get(id)
  if (!known) {
    if (shared.sessions.size >= SESSIONS) shared.sessions.delete(shared.sessions.keys().next().value)
    shared.sessions.set(id, (known = {}))
  }
  return known
}

function learn(info) {
  const id = text(info?.id)
  if (id === null) return
  const known = session(id)
  known.parent = text(info.parentID) ?? known.parent ?? null
  known.agent = text(info.agent) ?? known.agent
}

// The session at the top, or null when a parent on the way is not known.
function rootOf(id) {
  for (let hop = 0; hop < DEPTH; hop++) {
    const parent = shared.sessions.get(id)?.parent
    if (parent === undefined) return null
    if (parent === null) return id
    id = parent
  }
  return null
}

// Asks OpenCode for the parents that were not announced, which is so for resumed sessions.
async function lookUp(client, id) {
  for (let hop = 0; hop < DEPTH && typeof id === "string"; hop++) {
    if (shared.sessions.get(id)?.parent === undefined) learn((await client.session.get({ path: { id } }))?.data)
    id = shared.sessions.get(id)?.parent
  }
}

function within(promise, ms) {
  return new Promise((done) => {
    const limit = setTimeout(done, ms)
    const end = () => {
      clearTimeout(limit)
      done()
    }
    promise.then(end, end)
  })
}

function announce(context, event, id, more) {
  if (text(id) === null) return
  const known = () =>
    JSON.stringify({
      event,
      session_id: id,
      parent_id: shared.sessions.get(id)?.parent ?? null,
      root_id: rootOf(id),
      agent: shared.sessions.get(id)?.agent ?? null,
      cwd: text(context.directory),
      message_id: null,
      origin: null,
      model: null,
      provider: null,
      ...more,
    })
  const looked = () => (rootOf(id) === null ? within(lookUp(context.client, id), LOOKUP_MS).then(known) : known())
  shared.reporter.add(COMMAND, known, looked)
}

function model(value) {
  return { model: text(value?.modelID) ?? text(value?.id), provider: text(value?.providerID) }
}

function observe(context, { type, properties }) {
  switch (type) {
    case "session.created":
      if (!isNew(properties)) return
      learn(properties.info)
      announce(context, type, properties.info.id, { ...model(properties.info.model), cwd: text(properties.info.directory) })
      return
    case "session.updated":
      learn(properties.info)
      return
    case "message.updated":
      // The answer names the prompt that it answers: the turn that ends with it.
      if (properties.info?.role === "assistant" && text(properties.info.parentID) !== null)
        session(properties.info.sessionID).turn = properties.info.parentID
      return
    case "session.idle":
    case "session.compacted":
      if (!isNew(properties)) return
      announce(context, type, properties.sessionID, { message_id: shared.sessions.get(properties.sessionID)?.turn ?? null })
  }
}

function prompted(context, input, output) {
  const message = output.message
  if (!isNew(message)) return
  const known = session(input.sessionID)
  known.turn = text(message.id)
  known.agent = text(message.agent) ?? known.agent
  // A prompt of which OpenCode made every part itself is no person's. Nothing else of a part is read.
  const made = Array.isArray(output.parts) && output.parts.length > 0 && output.parts.every((part) => part.synthetic === true)
  announce(context, "chat.message", input.sessionID, { message_id: known.turn, origin: made ? "harness" : "person", ...model(message.model) })
}

export const IbidLifecycle = async (context) => ({
  event: async ({ event }) => {
    try {
      observe(context, event)
    } catch {}
  },
  "chat.message": async (input, output) => {
    try {
      prompted(context, input, output)
    } catch {}
  },
  dispose: async () => {
    try {
      await shared.reporter.emptied()
    } catch {}
  },
})
