// Has a running Node process collect its garbage, through its inspector port, and reads the heap that is left. The
// process is asked by SIGUSR1 to open the port: until then the inspector costs it nothing.

import { setTimeout as sleep } from 'node:timers/promises'

export interface Inspector extends Disposable {
  /** Collects what is garbage; MB (2^20) of JavaScript heap that are left in use. */
  readonly collect: () => Promise<number>
  /** Samples where the process spends its time while `run` runs; the text of a `.cpuprofile`. */
  readonly profile: <T>(run: () => Promise<T>) => Promise<readonly [T, string]>
}

/** @param port what the process was started with: `--inspect-port=127.0.0.1:PORT` */
export const openInspector = async (pid: number, port: number): Promise<Inspector> => {
  process.kill(pid, 'SIGUSR1')
  const socket = new WebSocket(await debuggerUrl(port))
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => {
      resolve()
    })
    socket.addEventListener('error', () => {
      reject(new Error(`the inspector on port ${port} refuses`))
    })
  })
  const waiting = new Map<number, (result: unknown) => void>()
  socket.addEventListener('message', ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { id?: number; result?: unknown }
    if (id !== undefined) waiting.get(id)?.(result)
  })
  let lastId = 0
  const call = (method: string): Promise<unknown> =>
    new Promise((resolve) => {
      lastId += 1
      waiting.set(lastId, resolve)
      socket.send(JSON.stringify({ id: lastId, method }))
    })
  return {
    profile: async (run) => {
      await call('Profiler.enable')
      await call('Profiler.start')
      const result = await run()
      const { profile } = (await call('Profiler.stop')) as { readonly profile: object }
      return [result, JSON.stringify(profile)]
    },
    collect: async () => {
      // What finalizers let go of is garbage for the next one.
      for (let pass = 0; pass < 3; pass++) await call('HeapProfiler.collectGarbage')
      const { usedSize } = (await call('Runtime.getHeapUsage')) as { readonly usedSize: number }
      return usedSize / 1024 ** 2
    },
    [Symbol.dispose]: () => {
      socket.close()
    },
  }
}

const ATTEMPTS = 100
const ATTEMPT_MS = 50

const debuggerUrl = async (port: number): Promise<string> => {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    try {
      const response = await fetch(`http://127.0.0.1:${port}/json/list`)
      const [target] = (await response.json()) as { readonly webSocketDebuggerUrl: string }[]
      if (target !== undefined) return target.webSocketDebuggerUrl
    } catch {
      // It takes the process a moment to open the port.
    }
    await sleep(ATTEMPT_MS)
  }
  throw new Error(`no inspector on port ${port}`)
}
