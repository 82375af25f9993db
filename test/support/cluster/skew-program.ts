// Upgrades a whole cluster under steady traffic from the chart and images of a commit to those of this checkout and
// back, also one program at a time; for people. What was lost is printed, and is a failure.

import { argv } from 'node:process'
import { documentObject, realmObject } from '../../component/kubernetes/objects.ts'
import { crdNames, SCHEMA_STAMP, SCHEMA_VERSION } from '../../../operator/resource/crd.ts'
import { API_VERSION } from '../../../operator/resource/resource.ts'
import { eventually } from '../eventually.ts'
import { CHART } from '../helm.ts'
import { demand } from '../kubernetes/api-client.ts'
import { olderVersion } from '../older-version.ts'
import { echoApplication, nexusRouter } from './application-objects.ts'
import { buildImage } from './build-image.ts'
import { CLUSTER_IMAGES, loadClusterImages } from './cluster-images.ts'
import { type ClusterNode, startClusterNode } from './cluster-node.ts'
import { demandKubectl, installChart, type Installation, type Version } from './install.ts'
import { clusterAvailability } from './node-recipe.ts'
import { tallyDuring } from './observe-rollout.ts'
import { startTraffic, type Traffic, trafficDocument } from './traffic.ts'

const NAMESPACE = 'shop'
const HOST = 'shop.test'
const REALM = 'com.shop'
const DOCUMENTS = 50
const OLDER_IMAGE = 'localhost/svc-gateway:older'
const PATIENCE = { withinMs: 120_000, everyMs: 200 }

const NEWER: Version = { chart: CHART, image: CLUSTER_IMAGES.gateway }

const documents = (edit: number): readonly object[] =>
  Array.from({ length: DOCUMENTS }, (_, index) => {
    const name = `doc-${index}`
    return documentObject(NAMESPACE, name, {
      host: HOST,
      paths: { '/x': name, [`/edit-${edit}`]: name },
    })
  })

const fill = async (cluster: ClusterNode): Promise<void> => {
  await cluster.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } }])
  await cluster.apply([...echoApplication(NAMESPACE), ...nexusRouter(NAMESPACE, [REALM])])
}

const apis = (): readonly object[] => [
  realmObject(NAMESPACE, { router: { url: `ws://nexus.${NAMESPACE}:8080/ws` } }),
  ...documents(0),
  {
    apiVersion: 'gateway.svc.dev/v1alpha1',
    kind: 'ApiSpecification',
    metadata: { name: 'traffic', namespace: NAMESPACE },
    spec: { document: trafficDocument('traffic', HOST, REALM, `http://echo.${NAMESPACE}`) },
  },
]

interface Listed {
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly generation: number }
    readonly status?: {
      readonly conditions?: readonly {
        readonly type: string
        readonly status: string
        readonly observedGeneration?: number
      }[]
    }
  }[]
}

const untilReady = (cluster: ClusterNode): Promise<void> =>
  eventually(async () => {
    const path = `/apis/gateway.svc.dev/v1alpha1/namespaces/${NAMESPACE}/apispecifications`
    const { items } = demand(await cluster.request({ path })).json() as Listed
    const others = items.filter(({ metadata, status }) => {
      const ready = status?.conditions?.find(({ type }) => type === 'Ready')
      return ready?.status !== 'True' || ready.observedGeneration !== metadata.generation
    })
    if (others.length > 0) throw new Error(`${others.length} documents are not Ready`)
  }, PATIENCE)

interface Stage {
  readonly cluster: ClusterNode
  readonly svc: Installation
  readonly traffic: Traffic
  readonly older: Version
}

const setImage = async (
  { cluster, svc }: Stage,
  part: 'operator' | 'gateway',
  image: string,
): Promise<void> => {
  const within = ['-n', svc.namespace] as const
  const deployment = `deployment/${part === 'operator' ? `${svc.name}-operator` : svc.name}`
  await demandKubectl(cluster, ['set', 'image', deployment, `${part}=${image}`, ...within])
  await demandKubectl(cluster, ['rollout', 'status', deployment, ...within, '--timeout=180s'])
}

let edits = 0

const editAll = async ({ cluster }: Stage): Promise<void> => {
  edits += 1
  await cluster.apply(documents(edits))
  await untilReady(cluster)
}

const rollBack = async ({ svc }: Stage): Promise<void> => {
  const { code, stderr } = await svc.helm('rollback', '--wait', '--timeout=180s')
  if (code !== 0) throw new Error(`helm rollback: ${stderr}`)
}

const NEWER_FIELD = 'onlyNewerOnesHaveIt'

/** Kinds of a version after this one, and an object with what only they have; of a class that no operator serves. */
const makeKindsNewer = async ({ cluster }: Stage): Promise<void> => {
  const fields = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties'
  const patch = [{ op: 'add', path: `${fields}/${NEWER_FIELD}`, value: { type: 'string' } }]
  const stamp = `${SCHEMA_STAMP}=${SCHEMA_VERSION + 1}`
  for (const name of crdNames()) {
    await demandKubectl(cluster, ['patch', 'crd', name, '--type=json', '-p', JSON.stringify(patch)])
    await demandKubectl(cluster, ['annotate', 'crd', name, stamp, '--overwrite'])
  }
  const object = {
    apiVersion: API_VERSION,
    kind: 'Realm',
    metadata: { name: 'newer', namespace: NAMESPACE },
    spec: { uri: 'com.newer', gatewayClassName: 'other', [NEWER_FIELD]: 'kept' },
  }
  const args = ['apply', '--server-side', '--validate=strict', '-f', '-']
  await eventually(() => demandKubectl(cluster, args, { input: JSON.stringify(object) }), PATIENCE)
}

/** Their specs and stamps, by which it shows whether one was lowered. */
const kindsOf = async ({ cluster }: Stage): Promise<string> => {
  const stamp = SCHEMA_STAMP.replaceAll('.', '\\.')
  const output = `jsonpath={range .items[*]}{.spec}{.metadata.annotations.${stamp}}{"\\n"}{end}`
  return demandKubectl(cluster, ['get', 'crd', ...crdNames(), '-o', output])
}

/** An object that is written again loses what its kind does not know. */
const expectNewerKinds = async (stage: Stage, before: string): Promise<void> => {
  if ((await kindsOf(stage)) !== before) throw new Error('the older chart has changed newer kinds')
  const newer = ['realm', 'newer', '-n', NAMESPACE]
  await demandKubectl(stage.cluster, ['label', ...newer, 'written=again'])
  const output = `jsonpath={.spec.${NEWER_FIELD}}`
  const value = await demandKubectl(stage.cluster, ['get', ...newer, '-o', output])
  if (value !== 'kept') throw new Error('a field that only the newer kinds have was pruned')
}

/**
 * Each begins where the one before has ended, with the older version in the beginning. Helm's come first: images that
 * kubectl has set are kubectl's.
 */
const STEPS: Readonly<Record<string, (stage: Stage) => Promise<void>>> = {
  'upgrade, chart and image': async (stage) => {
    await stage.svc.change(NEWER)
    await editAll(stage)
  },
  'helm rollback': async (stage) => {
    await rollBack(stage)
    await editAll(stage)
  },
  'upgrade again, chart and image': async (stage) => {
    await stage.svc.change(NEWER)
    await editAll(stage)
  },
  'back by an upgrade with the older chart': async (stage) => {
    await makeKindsNewer(stage)
    const before = await kindsOf(stage)
    await stage.svc.change(stage.older)
    await expectNewerKinds(stage, before)
    await editAll(stage)
  },
  'a newer operator, older gateways': async (stage) => {
    await setImage(stage, 'operator', NEWER.image)
    await editAll(stage)
  },
  'a newer operator, gateways upgraded': async (stage) => {
    await setImage(stage, 'gateway', NEWER.image)
    await editAll(stage)
  },
  'an older operator again, newer gateways': async (stage) => {
    await setImage(stage, 'operator', stage.older.image)
    await editAll(stage)
  },
  'an older operator, gateways back': async (stage) => {
    await setImage(stage, 'gateway', stage.older.image)
    await editAll(stage)
  },
}

const run = async (commit: string): Promise<void> => {
  const version = await olderVersion(commit)
  if (version === undefined) throw new Error(`the history of this checkout lacks ${commit}`)
  await buildImage({ tag: OLDER_IMAGE, context: version.directory })
  await using cluster = await startClusterNode()
  await loadClusterImages(cluster, 'gateway', 'echo', 'nexus')
  await cluster.loadImage(OLDER_IMAGE)
  await fill(cluster)
  const older = { chart: version.chart, image: OLDER_IMAGE }
  const resources = { requests: { cpu: '10m', memory: '64Mi' } }
  const values = { gateway: { resources }, operator: { resources } }
  const svc = await installChart(cluster, { values, version: older })
  await cluster.apply(apis())
  await untilReady(cluster)
  await demandKubectl(cluster, [
    'wait',
    'deployment',
    '--all',
    '-n',
    NAMESPACE,
    '--for=condition=Available',
  ])
  await using traffic = startTraffic({ url: await svc.url(), host: HOST, documents: DOCUMENTS })
  const stage = { cluster, svc, traffic, older }
  let lost = 0
  for (const [name, act] of Object.entries(STEPS))
    lost += (await tallyDuring(traffic.book, name, () => act(stage))).failures.length
  if (lost > 0) throw new Error(`${lost} requests were lost`)
  process.stdout.write(`nothing was lost between ${version.commit} and this checkout\n`)
}

try {
  const [, , commit] = argv
  if (commit === undefined) throw new Error('usage: skew-program.ts COMMIT')
  const availability = clusterAvailability()
  if (!availability.available) throw new Error(availability.why)
  await run(commit)
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
