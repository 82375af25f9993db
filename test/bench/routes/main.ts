// Runs the published benchmarks of gateways, rewritten for our kinds, on a real API server with a real operator and real
// gateways, prints their tables and writes the figures to docs/benchmarks.md. It asserts nothing.

import { startControlPlane } from '../../support/kubernetes/control-plane.ts'
import { goModule, kubeAvailability } from '../../support/kubernetes/kube-recipe.ts'
import { describeHardware, describeLoad } from '../machine.ts'
import { describeRun, renderReport, writeReport } from '../results-page.ts'
import type { Section } from '../section.ts'
import { type Arguments, type PartName, readArguments, USAGE } from './arguments.ts'
import { changeRoutes } from './changes.ts'
import { churn } from './churn.ts'
import { probe } from './probe.ts'
import { changesSection, churnSection, probeSection } from './report.ts'
import { type Rig, withRig } from './rig.ts'
import { endOnSignals, readOrExit, startProgress } from '../start-program.ts'

const startedMs = performance.now()
const progress = startProgress()

const factsOf = (isQuick: boolean, loadBefore: string): readonly string[] => [
  describeRun(startedMs, 'operator', 'dataplane'),
  `${describeHardware()}; load ${loadBefore} before, ${describeLoad()} after`,
  `Node ${process.versions.node}, Kubernetes ${goModule().versionOf('k8s.io/kubernetes')}; API server, etcd, operator, two gateways, upstreams and clients share the machine`,
  'Gateways are processes with a Pod object each; plain HTTP to them',
  ...(isQuick ? ['A quick run: these numbers are noise'] : []),
]

const main = async ({ parts, size, isQuick, destination }: Arguments): Promise<void> => {
  const availability = kubeAvailability()
  if (!availability.available) throw new Error(`no control plane here: ${availability.why}`)
  const loadBefore = describeLoad()
  const measure = {
    probe: async (rig) => probeSection(await probe(rig, size.documents, progress)),
    changes: async (rig) =>
      changesSection(
        await changeRoutes(rig, size.changes, size.requestsPerSecond),
        size.requestsPerSecond,
      ),
    churn: async (rig) => churnSection(await churn(rig, size.churn, progress)),
  } as const satisfies Readonly<Record<PartName, (rig: Rig) => Promise<Section>>>
  const sections: Section[] = []
  for (const part of parts) {
    progress(`${part}: starting a control plane, an operator and gateways`)
    // Each part begins with nothing: what one leaves behind is not measured by the next.
    await using plane = await startControlPlane({ controllers: false })
    sections.push(await withRig(plane, measure[part]))
  }
  const report = { title: 'Routes', facts: factsOf(isQuick, loadBefore), sections } as const
  process.stdout.write(`${renderReport(report)}\n`)
  writeReport(report, destination)
}

endOnSignals()

await main(readOrExit(readArguments, USAGE))
