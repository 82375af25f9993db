// A node of tests is one: images get there, pods run and are Ready, Services answer from the host and in pods, the
// host is reached from pods; what is done inside is seen outside, and its end leaves nothing on the machine.

import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readdir, readFile, readlink } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, it, jest } from '@jest/globals'
import { CLUSTER_IMAGES, loadClusterImages } from '../support/cluster/cluster-images.ts'
import { type ClusterNode, startClusterNode } from '../support/cluster/cluster-node.ts'
import {
  describeWithClusterNode,
  ROLLOUT_MS,
} from '../support/cluster/describe-with-cluster-node.ts'
import { eventually } from '../support/eventually.ts'
import { request } from '../support/http-request.ts'

jest.setTimeout(120_000)

const PATIENCE = { withinMs: 60_000, everyMs: 100 }

const echoObjects = (replicas: number): readonly object[] => [
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'echo', namespace: 'default' },
    spec: {
      replicas,
      selector: { matchLabels: { app: 'echo' } },
      template: {
        metadata: { labels: { app: 'echo' } },
        spec: {
          containers: [
            {
              name: 'echo',
              image: CLUSTER_IMAGES.echo,
              imagePullPolicy: 'Never',
              readinessProbe: { httpGet: { path: '/ready', port: 8080 }, periodSeconds: 1 },
            },
          ],
        },
      },
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'echo', namespace: 'default' },
    spec: { selector: { app: 'echo' }, ports: [{ port: 80, targetPort: 8080 }] },
  },
]

interface Echo {
  readonly pod: string
  readonly url: string
}

const demandOutput = async (
  cluster: ClusterNode,
  args: readonly string[],
  input = '',
): Promise<string> => {
  const { code, stdout, stderr } = await cluster.kubectl(args, { input })
  expect({ args, code, stderr }).toMatchObject({ code: 0 })
  return stdout.trim()
}

const serviceUrl = async (cluster: ClusterNode): Promise<string> =>
  `http://${await demandOutput(cluster, ['get', 'service', 'echo', '-o', 'jsonpath={.spec.clusterIP}'])}`

const podNames = async (cluster: ClusterNode): Promise<readonly string[]> => {
  const running = ['get', 'pods', '-l', 'app=echo', '-o', 'jsonpath={.items[*].metadata.name}']
  return (await demandOutput(cluster, running)).split(' ')
}

const askFromPod = async (cluster: ClusterNode, url: string): Promise<string> => {
  const [pod = ''] = await podNames(cluster)
  const ask = `fetch('${url}').then((response) => response.text()).then(console.log)`
  return demandOutput(cluster, ['exec', pod, '--', 'node', '-e', ask])
}

await describeWithClusterNode('a node', (cluster) => {
  beforeAll(async () => {
    await loadClusterImages(cluster(), 'echo')
    await cluster().apply(echoObjects(2))
    await demandOutput(cluster(), ['rollout', 'status', 'deployment/echo', '--timeout=60s'])
  }, ROLLOUT_MS)

  it('pods are Ready, and their logs are read', async () => {
    const ready = ['wait', 'pod', '-l', 'app=echo', '--for=condition=Ready', '--timeout=60s']
    expect((await demandOutput(cluster(), ready)).split('\n')).toHaveLength(2)
    const names = await podNames(cluster())
    expect(await demandOutput(cluster(), ['logs', names[0] ?? ''])).toBe(
      `${names[0] ?? ''} listens`,
    )
  })

  it('a Service answers from the host, from every one of its pods', async () => {
    const url = await serviceUrl(cluster())
    const names = await podNames(cluster())
    const seen = new Set<string>()
    await eventually(async () => {
      // A connection of its own: which pod it comes to is decided for each.
      const response = (await request(`${url}/slow/10`)).json() as Echo
      expect(response.url).toBe('/slow/10')
      seen.add(response.pod)
      expect([...seen].toSorted()).toEqual([...names].toSorted())
    }, PATIENCE)
  })

  it('server-sent events arrive one by one', async () => {
    const { body } = await fetch(`${await serviceUrl(cluster())}/events/10`)
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    while (!text.includes('"sent":3')) {
      const { value = '', done = true } = (await reader?.read()) ?? {}
      expect(done).toBe(false)
      text += value
    }
    await reader?.cancel()
    expect(text).toMatch(/^id: 1\ndata: \{"pod":"echo-.*","sent":1\}\n\n/)
  })

  it('a Service answers pods by its name, and so does the host by its address', async () => {
    const received = JSON.parse(await askFromPod(cluster(), 'http://echo/named')) as Echo
    expect(received).toMatchObject({ url: '/named' })
    const server = createServer((_request, response) => {
      response.end('the host')
    }).listen(0, cluster().hostAddress)
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    expect(await askFromPod(cluster(), `http://${cluster().hostAddress}:${port}/`)).toBe('the host')
    server.close()
  })

  it('a container that is killed inside the node is started again', async () => {
    const [pod = ''] = await podNames(cluster())
    const status = async (field: string): Promise<string> => {
      const path = `jsonpath={.status.containerStatuses[0].${field}}`
      return demandOutput(cluster(), ['get', 'pod', pod, '-o', path])
    }
    const id = (await status('containerID')).replace('containerd://', '')
    expect(await cluster().ctr(['tasks', 'kill', '-s', 'KILL', id])).toMatchObject({ code: 0 })
    await eventually(async () => {
      expect(await status('restartCount')).toBe('1')
      expect(await status('ready')).toBe('true')
    }, PATIENCE)
  })

  it('what is run inside sees the node, and its exit code is returned', async () => {
    expect(await cluster().exec(['hostname'])).toMatchObject({ code: 0, stdout: 'svc-node\n' })
    expect(await cluster().exec(['sh', '-c', 'cat; exit 3'], { input: 'read' })).toMatchObject({
      code: 3,
      stdout: 'read',
    })
  })

  it('an image that was not built is refused', async () => {
    await expect(cluster().loadImage('localhost/none:test')).rejects.toThrow('localhost/none:test')
  })
})

/** Of the host's processes, whatever namespaces they are in: those inside the node, and those told of its directory. */
const processesOf = async (namespace: string, directory: string): Promise<readonly string[]> => {
  const found: string[] = []
  for (const pid of (await readdir('/proc')).filter((each) => /^\d+$/.test(each))) {
    const inside = await readlink(`/proc/${pid}/ns/pid`).catch(() => '')
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    if (inside === namespace || command.includes(directory)) found.push(`${pid} ${command}`)
  }
  return found
}

const cgroupsNamed = async (name: string): Promise<readonly string[]> => {
  const mounts = await readFile('/proc/mounts', 'utf8')
  const roots = [...mounts.matchAll(/^\S+ (\S+) cgroup2? /gm)].map(([, root = '']) => root)
  return roots.map((root) => join(root, name)).filter((path) => existsSync(path))
}

await describeWithClusterNode('a node beside another', (first) => {
  it(
    'has addresses of its own, and leaves nothing when it ends',
    async () => {
      const second = await startClusterNode()
      const { interfaceName, cgroup } = second.traces
      const { directory } = second.plane
      const namespace = (await second.exec(['readlink', '/proc/self/ns/pid'])).stdout.trim()
      const traces = async () => ({
        interface: interfaceName in networkInterfaces(),
        cgroups: await cgroupsNamed(cgroup),
        directory: existsSync(directory),
        processes: await processesOf(namespace, directory),
      })
      expect(second.hostAddress).not.toBe(first().hostAddress)
      const before = await traces()
      expect(before).toMatchObject({ interface: true, directory: true })
      expect(before.cgroups).not.toEqual([])
      expect(before.processes.length).toBeGreaterThan(10)
      await second[Symbol.asyncDispose]()
      await eventually(async () => {
        const nothing = { interface: false, cgroups: [], directory: false, processes: [] }
        expect(await traces()).toEqual(nothing)
      }, PATIENCE)
      expect(await first().exec(['hostname'])).toMatchObject({ code: 0 })
    },
    ROLLOUT_MS,
  )
})
