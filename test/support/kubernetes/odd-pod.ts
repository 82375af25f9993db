// Creates a Pod, by name and labels, whose data plane is a fake in this process that misbehaves as a test wants. It
// never serves a request.

import { FakeDataPlane } from '../fake-data-plane.ts'
import type { ControlPlane } from './control-plane.ts'
import type { FakePod } from './fake-pod.ts'

export interface OddPodOptions {
  /** That of the operator in the tests of the whole when absent. */
  readonly namespace?: string
  readonly name: string
  readonly labels?: Readonly<Record<string, string>>
  readonly sidecar?: boolean
  /** Before the Pod is there. */
  readonly prepare?: (fake: FakeDataPlane) => void
}

export interface OddPod extends AsyncDisposable {
  readonly fake: FakeDataPlane
  readonly pod: FakePod
  /** `namespace/name`, as the operator's pages have it. */
  readonly name: string
  /** What it holds under an id; undefined: nothing. */
  readonly digest: (id: string) => string | undefined
  /** Puts of a document so far. */
  readonly putsOf: (id: string) => number
  /** Ids of all documents that it was ever told to delete. */
  readonly deletes: () => readonly string[]
}

/** @example await using odd = await startOddPod(plane(), { name: 'odd-1', labels: { group: 'hung' } }) */
export const startOddPod = async (
  plane: ControlPlane,
  { namespace = 'svc-gateway-system', name, labels = {}, sidecar = false, prepare }: OddPodOptions,
): Promise<OddPod> => {
  const fake = await FakeDataPlane.start()
  prepare?.(fake)
  const pod = await plane.fakePod({
    namespace,
    name,
    ip: '127.0.0.1',
    ports: { management: fake.port },
    sidecar,
    labels: { 'gateway.svc.dev/data-plane': sidecar ? 'sidecar' : 'shared', ...labels },
  })
  return {
    fake,
    pod,
    name: `${namespace}/${name}`,
    digest: (id) => fake.specs.get(id)?.digest,
    putsOf: (id) =>
      fake.syncs.flatMap(({ specs }) => specs?.put ?? []).filter((put) => put.id === id).length,
    deletes: () => fake.syncs.flatMap(({ specs }) => specs?.delete ?? []),
    [Symbol.asyncDispose]: async () => {
      await pod.delete()
      await fake.close()
    },
  }
}
