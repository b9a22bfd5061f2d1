// Ibid's extension for pi, installed by `ibid plugin install pi`.
//
// It tells the hook command below which session reached which boundary: ids, the session's file,
// the working directory and the model. What people and models write is not looked at, and nothing
// is sent anywhere else. It changes nothing in pi, prints nothing, and a hook that is missing,
// fails or hangs is not noticed.
import { spawn, spawnSync } from "node:child_process"

const COMMAND: any = "__IBID_HOOK_WORDS__"

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

// pi loads every file of the folder into one process, and loads them again for each session that
// replaces another. Of several copies the first that sees a session start is the one that reports.
const shared: any = ((globalThis as any)[Symbol.for("ibid.lifecycle.pi")] ??= {
  reporter: createReporter(),
  owner: null,
  start: null,
})

function text(value: any) {
  return typeof value === "string" ? value : null
}

function announce(event: any, ctx: any, more: any) {
  const of = ctx.sessionManager
  const report = JSON.stringify({
    event: text(event.type),
    session_id: text(of.getSessionId()),
    session_file: text(of.getSessionFile()),
    cwd: text(ctx.cwd),
    model: text(ctx.model?.id),
    provider: text(ctx.model?.provider),
    reason: null,
    source: null,
    entry_id: null,
    ...more,
  })
  shared.reporter.add(COMMAND, () => report)
}

export default function (pi: any) {
  const me = {}
  const on = (name: string, handle: (event: any, ctx: any) => any) => {
    try {
      pi.on(name, async (event: any, ctx: any) => {
        try {
          await handle(event, ctx)
        } catch {}
      })
    } catch {}
  }
  on("session_start", (event, ctx) => {
    if (shared.start === event) return
    shared.start = event
    shared.owner = me
    announce(event, ctx, { reason: text(event.reason) })
  })
  // A prompt is announced with the id of its entry, which is written just before the model is asked.
  // One that is given while the model works is written later, and is announced at once without.
  let asked: any = null
  let turn: any = null
  const tell = (id: any) => {
    if (!asked) return
    const { event, ctx } = asked
    asked = null
    turn = id
    announce(event, ctx, { source: text(event.source), entry_id: id })
  }
  on("input", (event, ctx) => {
    if (shared.owner !== me) return
    // Of two prompts on their way nobody knows whose entry comes next.
    const isAlone = !asked && !event.streamingBehavior && ctx.isIdle?.() === true
    tell(null)
    if (!isAlone) announce(event, ctx, { source: text(event.source) })
    else asked = { event, ctx, before: ctx.sessionManager.getLeafId() }
  })
  on("context", (event, ctx) => {
    if (shared.owner !== me || !asked) return
    const last = ctx.sessionManager.getLeafEntry()
    const isPrompt = last?.type === "message" && last.message?.role === "user" && last.id !== asked.before
    tell(isPrompt ? text(last.id) : null)
  })
  for (const name of ["agent_settled", "session_compact"])
    on(name, (event, ctx) => {
      if (shared.owner !== me) return
      tell(null)
      announce(event, ctx, { reason: text(event.reason), entry_id: name === "agent_settled" ? turn : null })
    })
  on("session_shutdown", async (event, ctx) => {
    if (shared.owner !== me) return
    tell(null)
    announce(event, ctx, { reason: text(event.reason) })
    shared.owner = null
    await shared.reporter.emptied()
  })
}
