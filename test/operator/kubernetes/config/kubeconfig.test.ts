import { chmod, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from '@jest/globals'
import { SYSTEM_CLOCK } from '../../../../base/clock.ts'
import { keepCredentials } from '../../../../operator/kubernetes/config/credentials.ts'
import type { Cluster, ClusterCredentials } from '../../../../operator/kubernetes/config/cluster.ts'
import { loadCluster } from '../../../../operator/kubernetes/config/kubeconfig.ts'
import { makeTempDir } from '../../../support/temp-dir.ts'
import { createManualClock, type ManualClock } from '../../../support/manual-clock.ts'

const closing: (() => PromiseLike<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const tempDir = async (): Promise<string> => {
  const directory = await makeTempDir()
  closing.push(() => directory[Symbol.asyncDispose]())
  return directory.path
}

const kubeconfigOf = (user: object, more: { cluster?: object; context?: object } = {}): string =>
  // JSON is YAML.
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'here',
    clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:6443/', ...more.cluster } }],
    contexts: [{ name: 'here', context: { cluster: 'c', user: 'u', ...more.context } }],
    users: [{ name: 'u', user }],
  })

const write = async (text: string, name = 'kubeconfig'): Promise<string> => {
  const path = join(await tempDir(), name)
  await writeFile(path, text)
  return path
}

const load = (kubeconfig: string): Promise<Cluster> =>
  loadCluster({ kubeconfig, env: {}, clock: SYSTEM_CLOCK })

const wordsOf = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work
  } catch (error) {
    if (error instanceof Error) {
      return `${error.message} ${JSON.stringify(error.cause)} ${error.stack ?? ''}`
    }
  }
  throw new Error('it did not fail')
}

const SECRET = 'hunter2-hunter2'
const base64 = (text: string): string => Buffer.from(text).toString('base64')

describe('a kubeconfig', () => {
  it.each<[string, object, ClusterCredentials]>([
    ['a token', { token: 't' }, { headers: { authorization: 'Bearer t' }, tls: {} }],
    [
      'a password',
      { username: 'constructor', password: 'p' },
      { headers: { authorization: `Basic ${base64('constructor:p')}` }, tls: {} },
    ],
    [
      'a certificate',
      { 'client-certificate-data': base64('CERT'), 'client-key-data': base64('KEY') },
      { headers: {}, tls: { cert: 'CERT', key: 'KEY' } },
    ],
    [
      'another identity',
      { token: 't', as: 'someone' },
      { headers: { authorization: 'Bearer t', 'impersonate-user': 'someone' }, tls: {} },
    ],
    ['nothing', {}, { headers: {}, tls: {} }],
  ])('with %s', async (_, user, expected) => {
    const cluster = await load(await write(kubeconfigOf(user)))
    expect(cluster).toMatchObject({ server: 'https://127.0.0.1:6443', namespace: 'default' })
    expect(await cluster.credentials()).toEqual(expected)
  })

  it('reports namespace, proxy, CA and server name', async () => {
    const cluster = {
      'certificate-authority-data': base64('CA'),
      'tls-server-name': 'kubernetes',
      'insecure-skip-tls-verify': true,
      'proxy-url': 'http://proxy:3128',
    }
    const path = await write(kubeconfigOf({}, { cluster, context: { namespace: 'shop' } }))
    const loaded = await load(path)
    expect(loaded).toMatchObject({ namespace: 'shop', proxyUrl: 'http://proxy:3128' })
    expect((await loaded.credentials()).tls).toEqual({
      ca: 'CA',
      servername: 'kubernetes',
      rejectUnauthorized: false,
    })
  })

  it('names files beside it, which are read again when they change', async () => {
    const directory = await tempDir()
    const path = join(directory, 'kubeconfig')
    await writeFile(join(directory, 'ca.pem'), 'CA 1')
    const tokenFile = join(directory, 'token')
    await writeFile(tokenFile, 'token-1\n')
    const cluster = { 'certificate-authority': 'ca.pem' }
    await writeFile(path, kubeconfigOf({ tokenFile }, { cluster }))
    const clock = createManualClock()
    const loaded = await loadCluster({ kubeconfig: path, env: {}, clock })
    const first = await loaded.credentials()
    expect(first).toEqual({ headers: { authorization: 'Bearer token-1' }, tls: { ca: 'CA 1' } })
    await writeFile(join(directory, 'ca.pem'), 'CA 2')
    await writeFile(tokenFile, 'token-2')
    expect(await loaded.credentials()).toBe(first)
    clock.advance(61_000)
    expect(await loaded.credentials()).toEqual({
      headers: { authorization: 'Bearer token-2' },
      tls: { ca: 'CA 2' },
    })
  })

  it('asks its program again where the API server refused what it said', async () => {
    const directory = await tempDir()
    const program = join(directory, 'login')
    const response = '{\\"status\\":{\\"token\\":\\"token-$N\\"}}'
    await writeFile(
      program,
      `#!/bin/sh\necho x >> ${directory}/count\nN=$(wc -l < ${directory}/count)\necho "${response}"\n`,
    )
    await chmod(program, 0o755)
    const clock = createManualClock()
    const kubeconfig = await write(kubeconfigOf({ exec: { command: program } }))
    const loaded = await loadCluster({ kubeconfig, env: {}, clock })
    const first = await loaded.credentials()
    expect(first.headers['authorization']).toBe('Bearer token-1')
    clock.advance(61_000)
    expect(await loaded.credentials()).toBe(first)
    clock.advance(2_000)
    const second = await loaded.credentials(first)
    expect(second.headers['authorization']).toBe('Bearer token-2')
    expect(await loaded.credentials(first)).toBe(second)
  })

  it.each([
    ['fails', `#!/bin/sh\necho ${SECRET} >&2\nexit 1\n`],
    ['says no JSON', `#!/bin/sh\necho "{${SECRET}"\n`],
  ])('whose program %s gives no word of it away', async (_, script) => {
    const program = await write(script, 'login')
    await chmod(program, 0o755)
    const loaded = await load(await write(kubeconfigOf({ exec: { command: program } })))
    const words = await wordsOf(loaded.credentials())
    expect(words).toContain(`the program "${program}" failed`)
    expect(words).not.toContain('hunter2')
  })

  it.each([
    ['no YAML', `users: [{user: {token: ${SECRET}`],
    ['a text', SECRET],
    ['nothing', ''],
    ['a list', `[${SECRET}]`],
  ])('that is %s is refused without a word of it', async (_, text) => {
    const path = await write(text)
    const words = await wordsOf(load(path))
    expect(words).toContain(path)
    expect(words).not.toContain('hunter2')
  })

  it.each([
    ['is not there', '/nonexistent/kubeconfig', "can't read the kubeconfig /nonexistent"],
    ['has no context', kubeconfigOf({}).replace('"here"', '"elsewhere"'), 'no current context'],
  ])('that %s is refused', async (_, given, words) => {
    const path = given.startsWith('/') ? given : await write(given)
    expect(await wordsOf(load(path))).toContain(words)
  })

  it('is used with another context than the current one, and says which contexts it has', async () => {
    const config = JSON.parse(kubeconfigOf({ token: 't' })) as {
      contexts: object[]
      users: object[]
    }
    config.contexts.push({ name: 'there', context: { cluster: 'c', user: 'v', namespace: 'shop' } })
    config.users.push({ name: 'v', user: { token: 'other' } })
    const kubeconfig = await write(JSON.stringify(config))
    const loadContext = (context: string): Promise<Cluster> =>
      loadCluster({ kubeconfig, context, env: {}, clock: SYSTEM_CLOCK })
    const cluster = await loadContext('there')
    expect(cluster.namespace).toBe('shop')
    expect((await cluster.credentials()).headers).toEqual({ authorization: 'Bearer other' })
    await expect(loadContext('nowhere')).rejects.toThrow(
      `there is no context 'nowhere' in ${kubeconfig}; there is here, there`,
    )
  })

  it('names the file that can not be read', async () => {
    const user = { 'client-certificate': '/nonexistent/cert.pem', 'client-key': '/nonexistent/key' }
    const loaded = await load(await write(kubeconfigOf(user)))
    expect(await wordsOf(loaded.credentials())).toContain('/nonexistent/cert.pem')
  })
})

const account = async (token: string): Promise<string> => {
  const directory = await tempDir()
  await writeFile(join(directory, 'token'), `${token}\n`)
  await writeFile(join(directory, 'ca.crt'), 'CA')
  await writeFile(join(directory, 'namespace'), 'svc-system\n')
  return directory
}

const inPod = (accountDirectory: string, clock: ManualClock, host = '10.0.0.1'): Promise<Cluster> =>
  loadCluster({
    env: { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: '443', HOME: accountDirectory },
    accountDirectory,
    clock,
  })

describe('the service account of a pod', () => {
  it('is read again before its token ends', async () => {
    const clock = createManualClock()
    const directory = await account('token-1')
    const cluster = await inPod(directory, clock)
    expect(cluster).toMatchObject({ server: 'https://10.0.0.1:443', namespace: 'svc-system' })
    const first = await cluster.credentials()
    expect(first).toEqual({ headers: { authorization: 'Bearer token-1' }, tls: { ca: 'CA' } })
    await writeFile(join(directory, 'token'), 'token-2')
    expect(await cluster.credentials()).toBe(first)
    clock.advance(2_000)
    const second = await cluster.credentials(first)
    expect(second.headers['authorization']).toBe('Bearer token-2')
    await writeFile(join(directory, 'token'), 'token-3')
    clock.advance(61_000)
    expect((await cluster.credentials()).headers['authorization']).toBe('Bearer token-3')
  })

  it('is used as it was while it can not be read', async () => {
    const clock = createManualClock()
    const directory = await account('token-1')
    const cluster = await inPod(directory, clock)
    const first = await cluster.credentials()
    await rm(join(directory, 'token'))
    clock.advance(61_000)
    expect(await cluster.credentials()).toBe(first)
  })

  it('has an address of either family', async () => {
    const cluster = await inPod(await account('t'), createManualClock(), 'fd00::1')
    expect(cluster.server).toBe('https://[fd00::1]:443')
  })

  it.each([
    ['{"sub":"system:serviceaccount:svc-system:svc-op"}', 'svc-op'],
    ['{"sub":"alice"}', undefined],
    ['{"sub":7}', undefined],
    ['null', undefined],
    ['no JSON', undefined],
  ])('is named by the token that claims %s: %s', async (claims, name) => {
    const token = `e30.${Buffer.from(claims).toString('base64url')}.x`
    const { serviceAccount } = await inPod(await account(token), createManualClock())
    expect(serviceAccount).toBe(name)
  })

  it('that is not mounted is missed', async () => {
    const directory = await tempDir()
    expect(await wordsOf(inPod(directory, createManualClock()))).toContain(
      'automountServiceAccountToken',
    )
  })
})

describe('the cluster', () => {
  it.each([
    ['named', ['named', 'KUBECONFIG', 'pod', 'home']],
    ['KUBECONFIG', ['KUBECONFIG', 'pod', 'home']],
    ['pod', ['pod', 'home']],
    ['home', ['home']],
  ])('is that of %s, of %j', async (expected, there) => {
    const home = await tempDir()
    const file = (namespace: string): Promise<string> =>
      write(kubeconfigOf({}, { context: { namespace } }))
    await mkdir(join(home, '.kube'))
    await writeFile(
      join(home, '.kube', 'config'),
      kubeconfigOf({}, { context: { namespace: 'home' } }),
    )
    const accountDirectory = await account('t')
    await writeFile(join(accountDirectory, 'namespace'), 'pod')
    const cluster = await loadCluster({
      ...(there.includes('named') && { kubeconfig: await file('named') }),
      env: {
        HOME: home,
        ...(there.includes('KUBECONFIG') && { KUBECONFIG: await file('KUBECONFIG') }),
        ...(there.includes('pod') && { KUBERNETES_SERVICE_HOST: '10.0.0.1' }),
      },
      accountDirectory,
      clock: SYSTEM_CLOCK,
    })
    expect(cluster.namespace).toBe(expected)
  })

  it('is of several files, the first of which says the context', async () => {
    const first = await write(
      JSON.stringify({
        'current-context': 'there',
        contexts: [{ name: 'there', context: { cluster: 'c', user: 'u', namespace: 'there' } }],
        clusters: [],
        users: [],
      }),
    )
    const second = await write(kubeconfigOf({ token: 't' }))
    const cluster = await loadCluster({
      env: { KUBECONFIG: `${first}:${second}` },
      clock: SYSTEM_CLOCK,
    })
    expect(cluster).toMatchObject({ namespace: 'there', server: 'https://127.0.0.1:6443' })
  })

  it('that is not named is requested', async () => {
    const env = { HOME: await tempDir() }
    expect(await wordsOf(loadCluster({ env, clock: SYSTEM_CLOCK }))).toContain('name a kubeconfig')
  })
})

describe('credentials', () => {
  const keeping = () => {
    const clock = createManualClock()
    const asked: boolean[] = []
    let token = 'a'
    const credentials = keepCredentials({
      clock,
      read: (isRefused) => {
        asked.push(isRefused)
        if (token === '') return Promise.reject(new Error('none'))
        return Promise.resolve({ headers: { authorization: token }, tls: {} })
      },
    })
    const become = (next: string): void => {
      token = next
    }
    return { clock, asked, credentials, become }
  }

  it('are read once for all who ask at once', async () => {
    const { asked, credentials, clock } = keeping()
    const [first, second] = await Promise.all([credentials(), credentials()])
    expect(first).toBe(second)
    clock.advance(5_000)
    await Promise.all([credentials(first), credentials(first), credentials()])
    expect(asked).toEqual([false, true])
  })

  it('are not read again for each request that is refused', async () => {
    const { asked, credentials, clock } = keeping()
    const first = await credentials()
    for (let times = 0; times < 5; times += 1) expect(await credentials(first)).toBe(first)
    expect(asked).toEqual([false])
    clock.advance(1_500)
    expect(await credentials(first)).toBe(first)
    expect(asked).toEqual([false, true])
  })

  it('that were refused long ago do not matter', async () => {
    const { asked, credentials, clock, become } = keeping()
    const first = await credentials()
    clock.advance(1_500)
    become('b')
    const second = await credentials(first)
    clock.advance(1_500)
    expect(await credentials(first)).toBe(second)
    expect(asked).toEqual([false, true])
  })

  it('that were refused and can not be had fail', async () => {
    const { credentials, clock, become } = keeping()
    const first = await credentials()
    clock.advance(1_500)
    become('')
    await expect(credentials(first)).rejects.toThrow('none')
    expect(await credentials()).toBe(first)
  })
})
