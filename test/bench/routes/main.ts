// Runs the published benchmarks of gateways, rewritten for our kinds, on a real API server with a real operator and real
// gateways, prints their tables and writes them to docs/benchmarks-routes.md. It asserts nothing.

import { writeFileSync } from 'node:fs'
import { startControlPlane } from '../../support/kubernetes/control-plane.ts'
import { goModule, kubeAvailability } from '../../support/kubernetes/kube-recipe.ts'
import { describeCommit, describeHardware, describeLoad } from '../machine.ts'
import { renderSection, type Section } from '../section.ts'
import { type Arguments, type PartName, readArguments, USAGE } from './arguments.ts'
import { changeRoutes } from './changes.ts'
import { churn } from './churn.ts'
import { probe } from './probe.ts'
import { changesSection, churnSection, probeSection } from './report.ts'
import { type Rig, withRig } from './rig.ts'
import { endOnSignals, readOrExit, startProgress } from '../start-program.ts'

const progress = startProgress()

const pageHead = (isQuick: boolean, loadBefore: string): readonly string[] => {
  const commit = describeCommit('operator', 'dataplane')
  const facts = [
    `${new Date().toISOString().slice(0, 10)}${commit === '' ? '' : `, commit ${commit}`}`,
    `${describeHardware()}; load average ${loadBefore} before, ${describeLoad()} after`,
    `Node ${process.versions.node}, Kubernetes ${goModule().versionOf('k8s.io/kubernetes')}; API server, etcd, operator, two gateways, upstreams and clients share the machine`,
    'Gateways are processes with a Pod object each, and plain HTTP between operator and gateways, where a cluster has mutual TLS',
    ...(isQuick ? ['A quick run: these numbers are noise.'] : []),
  ]
  return [
    '# Benchmarks of routes',
    'Written by `make bench-routes`; do not edit. The benchmarks that others published for gateways on Kubernetes, rewritten for documents. What one machine did on one day.',
    facts.map((fact) => `- ${fact}`).join('\n'),
  ]
}

const main = async ({ parts, size, isQuick, file }: Arguments): Promise<void> => {
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
  const page = `${[...pageHead(isQuick, loadBefore), ...sections.map(renderSection)].join('\n\n')}\n`
  process.stdout.write(page)
  if (file === undefined) return
  writeFileSync(file, page)
  process.stdout.write(`\nWritten to ${file}.\n`)
}

endOnSignals()

await main(readOrExit(readArguments, USAGE))
