// Reads what the pages of an operator say of a pod and of trouble, to wait for.

import { eventually } from '../eventually.ts'

/** A busy machine takes its time. */
const PATIENCE = { withinMs: 30_000, everyMs: 50 }

interface Paged {
  readonly page: (path: string) => Promise<unknown>
}

export interface PodPage {
  readonly name: string
  readonly phase: string
  readonly message: string
  readonly ready: boolean
  readonly version?: string
  readonly documents: Readonly<Record<string, string>>
}

/** All data planes that the operator knows, by `namespace/name`. */
export const podPages = async ({ page }: Paged): Promise<ReadonlyMap<string, PodPage>> => {
  const { dataPlanes } = (await page('/debug/pods')) as { readonly dataPlanes: readonly PodPage[] }
  return new Map(dataPlanes.map((each) => [each.name, each]))
}

/** Waits until a pod is in that phase; what is said of it. */
export const untilPhase = (operator: Paged, name: string, phase: string): Promise<PodPage> =>
  eventually(async () => {
    const found = (await podPages(operator)).get(name)
    if (found?.phase !== phase) {
      throw new Error(`${name} is not ${phase} but ${JSON.stringify(found ?? 'not known')}`)
    }
    return found
  }, PATIENCE)

/** What `/status` says beside resources and data planes. */
export const notesOf = async ({ page }: Paged): Promise<readonly string[]> => {
  const { notes } = (await page('/status')) as {
    readonly notes: readonly { readonly message: string }[]
  }
  return notes.map(({ message }) => message)
}
