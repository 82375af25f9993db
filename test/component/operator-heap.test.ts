// The operator in the memory that the chart gives it: it holds what docs/operations/sizing.md says, and its log says why
// it has ended where that was too little.

import { afterAll, beforeAll, expect, it, jest } from '@jest/globals'
import { openInspector } from '../bench/inspector.ts'
import { startLightPlane } from '../bench/operator/light-plane.ts'
import { inParallel, Rig } from '../bench/operator/rig.ts'
import {
  begin,
  measureBurst,
  measureCold,
  readMemory,
  type Stage,
} from '../bench/operator/stages.ts'
import { type Availability, onlyInTestAll } from '../support/availability.ts'
import { chartOperator } from '../support/chart-operator.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { describeWhenAvailable } from '../support/when-available.ts'
import { OPERATOR_MAIN } from './kubernetes/operator-process.ts'

jest.setTimeout(180_000)

const { memoryLimit } = chartOperator()
const SIZE = { documents: 1000, dataPlanes: 100, edits: 0, pods: 0, restSeconds: 0, memoryLimit }
/** MB (2^20) of heap: some 25 of the program, and what a document of 5 KB takes as objects on all data planes. */
const MAX_HEAP = 25 + SIZE.documents * 0.05

const LINUX: Availability =
  process.platform === 'linux'
    ? { available: true }
    : {
        available: false,
        why: 'each stand-in has an address of its own, and memory is read from /proc',
      }

const MEASURED = onlyInTestAll('a measurement with 100 data planes', LINUX)

describeWhenAvailable('an operator in the memory of the chart', MEASURED, () => {
  const open = new AsyncDisposableStack()
  let stage: Stage

  const openRig = async (): Promise<Rig> => {
    const directory = open.use(await makeTempDir())
    const light = open.use(await startLightPlane(directory.path))
    const program = { main: OPERATOR_MAIN, profiles: undefined, nodeFlags: [], memoryLimit }
    const { path } = directory
    const standIns = SIZE.dataPlanes
    return open.use(await Rig.open({ ...light, directory: path, standIns, program }))
  }

  beforeAll(async () => {
    stage = { rig: await openRig(), size: SIZE, progress: () => undefined }
  })

  afterAll(async () => {
    await open.disposeAsync()
  })

  it('holds 1,000 documents on 100 data planes, through edits and restarts of all of them', async () => {
    const { rig, size } = stage
    const measured = async (): Promise<void> => {
      const begun = await begin(stage)
      await measureBurst(stage, begun.operator)
      await measureCold(stage, begun)
      using inspector = await openInspector(begun.operator.pid, begun.inspectorPort)
      expect(await inspector.collect()).toBeLessThan(MAX_HEAP)
      const { peakRss } = readMemory(begun.operator.pid)
      expect(peakRss).toBeLessThan(memoryLimit)
    }
    await Promise.race([measured(), rig.failure])
    expect(rig.programmed(size.documents)).toBe(size.documents)
  })

  it('ends with what V8 says of it when its heap is full, and a caller that waits for it learns that at once', async () => {
    const rig = await openRig()
    await inParallel(SIZE.documents, (index) => rig.edit(index))
    await rig.startOperator(['--max-old-space-size=40'])
    await expect(rig.failure).rejects.toThrow(
      /the operator has ended by itself \(SIGABRT\)[^]*heap out of memory/,
    )
  })
})
