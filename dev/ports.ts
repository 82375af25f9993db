// Chooses seven free ports of 127.0.0.1, the usual ones where they are free. Reserves nothing: a quicker program may
// still take one.

import { once } from 'node:events'
import { createServer } from 'node:net'

/** 0: any free port. */
export interface Ports {
  readonly public: number
  readonly management: number
  readonly status: number
  readonly backend: number
  readonly router: number
  readonly idp: number
  readonly page: number
}

/** The ports that examples and documentation name. */
export const USUAL_PORTS: Ports = {
  public: 18080,
  management: 18081,
  status: 18085,
  backend: 18090,
  router: 18091,
  idp: 18092,
  page: 18093,
}

/** Any free ports, each chosen by itself. */
export const ANY_PORTS: Ports = {
  public: 0,
  management: 0,
  status: 0,
  backend: 0,
  router: 0,
  idp: 0,
  page: 0,
}

export type PortChoice =
  /** `taken`: the usual ports that are not free; if there are any, all ports have moved. */
  { readonly ports: Ports; readonly taken: readonly number[] } | { readonly error: string }

const STEP = 100
const TRIALS = 20

/** All of them move by the same step, so that one sees at a glance which belong together. */
export const choosePorts = async (
  isFree: (port: number) => Promise<boolean> = isPortFree,
): Promise<PortChoice> => {
  let taken: readonly number[] = []
  for (let trial = 0; trial < TRIALS; trial++) {
    const ports = shifted(trial * STEP)
    const takenHere = await takenOf(ports, isFree)
    if (takenHere.length === 0) return { ports, taken }
    if (trial === 0) taken = takenHere
  }
  const last = USUAL_PORTS.public + (TRIALS - 1) * STEP
  return {
    error: `no free ports: ${taken.join(', ')} are taken, and so are those up to ${last}; stop the programs that listen there`,
  }
}

const shifted = (by: number): Ports => ({
  public: USUAL_PORTS.public + by,
  management: USUAL_PORTS.management + by,
  status: USUAL_PORTS.status + by,
  backend: USUAL_PORTS.backend + by,
  router: USUAL_PORTS.router + by,
  idp: USUAL_PORTS.idp + by,
  page: USUAL_PORTS.page + by,
})

const takenOf = async (
  ports: Ports,
  isFree: (port: number) => Promise<boolean>,
): Promise<readonly number[]> => {
  const all = Object.values(ports) as readonly number[]
  const free = await Promise.all(all.map(isFree))
  return all.filter((_port, i) => free[i] !== true)
}

const isPortFree = async (port: number): Promise<boolean> => {
  const server = createServer()
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}
