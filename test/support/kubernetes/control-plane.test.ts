// A real control plane comes up, answers, bears every fault as it says, and leaves no process and nothing else behind,
// whatever becomes of the process that started it.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, it } from '@jest/globals'
import { eventually } from '../eventually.ts'
import { type ControlPlane, startControlPlane } from './control-plane.ts'
import { describeWithKubernetes, RESTART_MS } from './describe-with-kubernetes.ts'
import { isAlive } from '../is-alive.ts'

const CRD = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.test' },
  spec: {
    group: 'example.test',
    scope: 'Namespaced',
    names: { kind: 'Widget', plural: 'widgets', singular: 'widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { size: { type: 'integer', minimum: 1 } },
          },
        },
      },
    ],
  },
}

const widget = (name: string, size = 1): object => ({
  apiVersion: 'example.test/v1',
  kind: 'Widget',
  metadata: { name, namespace: 'default' },
  size,
})

const WIDGETS = '/apis/example.test/v1/namespaces/default/widgets'
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'

interface Listed {
  readonly metadata: { readonly resourceVersion: string }
  readonly items: readonly { readonly metadata: { readonly name: string } }[]
}

const list = async (plane: ControlPlane, path: string): Promise<Listed> =>
  (await plane.request({ path })).json() as Listed

const namesOf = async (plane: ControlPlane): Promise<readonly string[]> =>
  (await list(plane, CONFIG_MAPS)).items.map(({ metadata }) => metadata.name)

const createConfigMap = async (plane: ControlPlane, name: string): Promise<number> => {
  const body = { metadata: { name } }
  return (await plane.request({ method: 'POST', path: CONFIG_MAPS, body })).status
}

/** As an account that may read ConfigMaps in its namespace. */
const createReader = async (plane: ControlPlane): Promise<string> => {
  const kubeconfig = await plane.serviceAccount('default', 'reader')
  const role = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' }
  const account = { kind: 'ServiceAccount', namespace: 'default', name: 'reader' }
  const metadata = { name: 'reader', namespace: 'default' }
  const apiVersion = 'rbac.authorization.k8s.io/v1'
  await plane.apply([
    {
      apiVersion,
      kind: 'Role',
      metadata,
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }],
    },
    { apiVersion, kind: 'RoleBinding', metadata, roleRef: role, subjects: [account] },
  ])
  return kubeconfig
}

const codeOf = async (
  plane: ControlPlane,
  kubeconfig: string,
  resource: string,
): Promise<readonly [number, string]> => {
  const { code, stderr } = await plane.kubectl(['get', resource], { kubeconfig })
  return [code, /Forbidden|Unauthorized/.exec(stderr)?.[0] ?? '']
}

await describeWithKubernetes('a control plane', (plane) => {
  it('is asked with kubectl, of its own version', async () => {
    const { code, stdout } = await plane().kubectl(['version', '-o', 'json'])
    const { clientVersion, serverVersion } = JSON.parse(stdout) as Record<
      'clientVersion' | 'serverVersion',
      { readonly gitVersion: string }
    >
    expect({ code, version: clientVersion.gitVersion }).toEqual({
      code: 0,
      version: serverVersion.gitVersion,
    })
  })

  it('gives kubectl its input, and tells what it says when it fails', async () => {
    const input = JSON.stringify({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'NO-NAME' },
    })
    const { code, stderr } = await plane().kubectl(['create', '-f', '-'], { input })
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('NO-NAME') })
  })

  it('applies a definition and, at once, what it defines', async () => {
    await plane().apply([CRD])
    await plane().apply(`---\n${JSON.stringify(widget('a'))}\n---\n${JSON.stringify(widget('b'))}`)
    const { items } = await list(plane(), WIDGETS)
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['a', 'b'])
    await expect(plane().apply([widget('c', 0)])).rejects.toThrow('greater than or equal to 1')
  })

  it(
    'holds a service account to its roles, before and after a restart',
    async () => {
      const kubeconfig = await createReader(plane())
      const ask = async (): Promise<unknown> => ({
        configMaps: await codeOf(plane(), kubeconfig, 'configmaps'),
        secrets: await codeOf(plane(), kubeconfig, 'secrets'),
      })
      const expected = { configMaps: [0, ''], secrets: [1, 'Forbidden'] }
      await eventually(async () => {
        expect(await ask()).toEqual(expected)
      })
      await plane().stop()
      await plane().start()
      await eventually(async () => {
        expect(await ask()).toEqual(expected)
      })
    },
    RESTART_MS,
  )

  it('makes the namespace of a service account, once', async () => {
    const first = await plane().serviceAccount('elsewhere', 'operator')
    const second = await plane().serviceAccount('elsewhere', 'operator')
    expect(second).toBe(first)
    const { stdout } = await plane().kubectl(['auth', 'whoami', '-o', 'json'], {
      kubeconfig: second,
    })
    expect(stdout).toContain('system:serviceaccount:elsewhere:operator')
  })

  it('paused it takes connections and answers nothing; resumed it goes on', async () => {
    const ask = async (...flags: readonly string[]): Promise<boolean> =>
      (await plane().kubectl(['get', 'namespaces', ...flags])).code === 0
    await plane().pause()
    const isPausedAnswering = await ask('--request-timeout=1s')
    plane().resume()
    expect({ isPausedAnswering, resumed: await ask() }).toEqual({
      isPausedAnswering: false,
      resumed: true,
    })
  })

  it(
    'is refused while stopped; a stopped one stays stopped',
    async () => {
      await plane().stop()
      await plane().stop()
      const pids = plane().pids
      await expect(plane().request({ path: '/readyz' })).rejects.toThrow('ECONNREFUSED')
      await plane().start()
      expect({ pids, again: plane().pids.length }).toEqual({ pids: [], again: 3 })
    },
    RESTART_MS,
  )

  it(
    'crashes, and comes back with what it held as other processes',
    async () => {
      await createConfigMap(plane(), 'kept')
      const before = plane().pids
      await plane().crash()
      const after = plane().pids
      expect({
        isKept: (await namesOf(plane())).includes('kept'),
        same: after.filter((pid) => before.includes(pid)),
        running: after.length,
      }).toEqual({ isKept: true, same: [], running: 3 })
    },
    RESTART_MS,
  )

  it(
    'restored it has the objects and the resource version of then',
    async () => {
      await createConfigMap(plane(), 'before')
      const snapshot = await plane().snapshot()
      await plane().request({ method: 'DELETE', path: `${CONFIG_MAPS}/before` })
      for (let count = 0; count < 100; count += 1) await createConfigMap(plane(), `later-${count}`)
      const { metadata } = await list(plane(), CONFIG_MAPS)
      await plane().restore(snapshot)
      const restored = await list(plane(), CONFIG_MAPS)
      const names = restored.items.map(({ metadata: { name } }) => name)
      expect(names).toContain('before')
      expect(names).not.toContain('later-0')
      expect(Number(restored.metadata.resourceVersion)).toBeLessThan(
        Number(metadata.resourceVersion),
      )
    },
    RESTART_MS,
  )

  it(
    'compacted it answers 410 to what is from before',
    async () => {
      const { metadata } = await list(plane(), CONFIG_MAPS)
      await plane().compact()
      const since = `resourceVersion=${metadata.resourceVersion}`
      const watch = await plane().request({
        path: `${CONFIG_MAPS}?watch=1&timeoutSeconds=1&${since}`,
      })
      const exact = await plane().request({
        path: `${CONFIG_MAPS}?${since}&resourceVersionMatch=Exact`,
      })
      expect(watch.text).toContain('"code":410')
      expect(exact.status).toBe(410)
      expect((await plane().request({ path: CONFIG_MAPS })).status).toBe(200)
    },
    RESTART_MS,
  )
})

interface PodSeen {
  readonly spec: {
    readonly schedulerName: string
    readonly nodeName?: string
    readonly containers: readonly { readonly ports?: readonly unknown[] }[]
    readonly initContainers?: readonly { readonly restartPolicy: string }[]
  }
  readonly metadata: { readonly uid: string; readonly labels: unknown }
  readonly status: {
    readonly phase: string
    readonly podIP: string
    readonly conditions: readonly { readonly type: string; readonly status: string }[]
    readonly containerStatuses: readonly ContainerSeen[]
    readonly initContainerStatuses?: readonly ContainerSeen[]
  }
}

interface ContainerSeen {
  readonly name: string
  readonly containerID: string
  readonly ready: boolean
  readonly restartCount: number
}

await describeWithKubernetes('a fake pod', (plane) => {
  const podSeen = async (namespace: string, name: string): Promise<PodSeen> =>
    (
      await plane().request({ path: `/api/v1/namespaces/${namespace}/pods/${name}` })
    ).json() as PodSeen

  const containerSeen = ({ status }: PodSeen): ContainerSeen | undefined =>
    [...(status.initContainerStatuses ?? []), ...status.containerStatuses].find(
      ({ name }) => name === 'gateway',
    )

  const readyOf = ({ status }: PodSeen): string | undefined =>
    status.conditions.find(({ type }) => type === 'Ready')?.status

  it.each([
    { title: 'a pod', name: 'plain', sidecar: false, inits: [] },
    { title: 'a sidecar', name: 'beside', sidecar: true, inits: ['Always'] },
  ])('$title: on no node, running, ready, restarted in place, gone', async (row) => {
    const { name, sidecar, inits } = row
    const labels = { 'example.test/plane': 'yes' }
    const pod = await plane().fakePod({
      namespace: 'pods',
      name,
      labels,
      ip: '127.0.1.1',
      ports: { management: 9090 },
      sidecar,
    })
    const first = await podSeen('pods', name)
    const { containerID } = pod
    expect({
      nodeName: first.spec.nodeName,
      schedulerName: first.spec.schedulerName,
      inits: (first.spec.initContainers ?? []).map(({ restartPolicy }) => restartPolicy),
      uid: first.metadata.uid,
      labels: first.metadata.labels,
      phase: first.status.phase,
      podIP: first.status.podIP,
      ready: readyOf(first),
      container: containerSeen(first),
    }).toMatchObject({
      nodeName: undefined,
      schedulerName: 'none',
      inits,
      uid: pod.uid,
      labels,
      phase: 'Running',
      podIP: '127.0.1.1',
      ready: 'True',
      container: { containerID, ready: true, restartCount: 0 },
    })

    await pod.restartContainer({ ready: false })
    const restarted = await podSeen('pods', name)
    expect(pod.containerID).not.toBe(containerID)
    expect({ ready: readyOf(restarted), container: containerSeen(restarted) }).toMatchObject({
      ready: 'False',
      container: { containerID: pod.containerID, ready: false, restartCount: 1 },
    })

    await pod.setReady(true)
    expect(readyOf(await podSeen('pods', name))).toBe('True')
    await pod.patchStatus({ phase: 'Failed' })
    expect((await podSeen('pods', name)).status.phase).toBe('Failed')

    await pod.delete()
    const { status } = await plane().request({ path: `/api/v1/namespaces/pods/pods/${name}` })
    expect(status).toBe(404)
  })

  it('says why there is none of a name that is there already', async () => {
    const options = { name: 'twice', ip: '127.0.1.2', ports: {}, ready: false }
    const pod = await plane().fakePod(options)
    expect([pod.isReady, readyOf(await podSeen('default', 'twice'))]).toEqual([false, 'False'])
    await expect(plane().fakePod(options)).rejects.toThrow('already exists')
  })

  it(
    'ends beside another control plane without a process or a file left',
    async () => {
      const other = await startControlPlane({ controllers: false })
      const { pids } = other
      const directory = dirname(other.kubeconfig)
      const before = { alive: pids.map(isAlive), directory: existsSync(directory) }
      await other[Symbol.asyncDispose]()
      await eventually(() => {
        expect(pids.filter(isAlive)).toEqual([])
      })
      expect({ before, directory: existsSync(directory) }).toEqual({
        before: { alive: [true, true], directory: true },
        directory: false,
      })
    },
    RESTART_MS,
  )

  it(
    'a flag that does not exist is reported',
    async () => {
      const starting = startControlPlane({ apiserverFlags: ['--no-such-flag'] })
      await expect(starting).rejects.toThrow('unknown flag: --no-such-flag')
    },
    RESTART_MS,
  )

  it.each([
    { title: 'in order', signal: 'SIGTERM' as const, frozen: false },
    { title: 'killed, with a paused API server', signal: 'SIGKILL' as const, frozen: true },
  ])(
    'ends with the process that started it, $title',
    async ({ signal, frozen }) => {
      const program = join(import.meta.dirname, 'kubernetes-program.ts')
      const starter = spawn(process.execPath, [program, 'up'], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const [line] = (await once(createInterface({ input: starter.stdout }), 'line')) as [string]
      const { pids, directory } = JSON.parse(line) as {
        readonly pids: readonly number[]
        readonly directory: string
      }
      const before = pids.map(isAlive)
      if (frozen) for (const pid of pids) process.kill(pid, 'SIGSTOP')
      starter.kill(signal)
      await once(starter, 'close')
      await eventually(
        () => {
          expect({ alive: pids.filter(isAlive), isThere: existsSync(directory) }).toEqual({
            alive: [],
            isThere: false,
          })
        },
        { withinMs: 30_000 },
      )
      expect(before).toEqual([true, true, true])
    },
    RESTART_MS,
  )
})
