// Two who want the same: who has it, what the other is told and what not, and what becomes of it when it is free.

import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals'
import { eventually } from '../../support/eventually.ts'
import {
  describeWithKubernetes,
  RESTART_MS,
} from '../../support/kubernetes/describe-with-kubernetes.ts'
import { type GatewayPod, Home, PATIENCE } from './home.ts'
import { documentObject, realmObject, roleBindingObject } from './objects.ts'
import { makeNamespace } from './operator-api.ts'
import type { OperatorProcess } from './operator-process.ts'

jest.setTimeout(120_000)

/** Names that stand nowhere else, so that they can be looked for. */
const [WINNERS, LOSERS] = ['secretive', 'curious'] as const

await describeWithKubernetes('what two documents want', (plane) => {
  const open = new AsyncDisposableStack()
  let home: Home
  let operator: OperatorProcess
  let gateway: GatewayPod
  let visitor: string

  beforeAll(async () => {
    for (const namespace of [WINNERS, LOSERS]) await makeNamespace(plane(), namespace)
    home = open.use(await Home.open(plane()))
    operator = await home.startOperator()
    gateway = await home.startGatewayPod({ name: 'gw-1' })
    visitor = await plane().serviceAccount(LOSERS, 'visitor')
    await plane().apply([
      realmObject(WINNERS),
      realmObject(LOSERS),
      roleBindingObject(LOSERS, 'visitor', 'edit'),
    ])
  }, RESTART_MS)

  afterAll(() => open.disposeAsync())

  const apply = (...objects: readonly object[]): Promise<void> => plane().apply(objects)

  const applied = async (namespace: string, name: string, object: object): Promise<void> => {
    await apply(object)
    await home.until(namespace, name, 'Programmed', 'Programmed')
  }

  const remove = async (namespace: string, kind: string, name: string): Promise<void> => {
    expect((await plane().kubectl(['delete', kind, name, '-n', namespace])).code).toBe(0)
  }

  const answer = async (host: string, path: string): Promise<string> => {
    const { status, text } = await gateway.get(host, path)
    return status === 200 ? text : `${status}`
  }

  const loserErrors = async (namespace: string, name: string): Promise<readonly object[]> => {
    await home.until(namespace, name, 'Accepted', 'Conflicted')
    await home.until(namespace, name, 'Stalled', 'Conflicted')
    return (await home.status('apispecifications', namespace, name)).errors ?? []
  }

  /** All that somebody who may edit there, and nowhere else, can read. */
  const whatTheySee = async (): Promise<string> => {
    const texts = await Promise.all(
      [
        ['get', 'apispec,realm,events', '-o', 'yaml', '-n', LOSERS],
        ['describe', 'apispec', '-n', LOSERS],
        ['get', 'apispec', '-o', 'wide', '-n', LOSERS],
      ].map(async (args) => {
        const { code, stdout, stderr } = await plane().kubectl(args, { kubeconfig: visitor })
        if (code !== 0) throw new Error(stderr)
        return stdout
      }),
    )
    return texts.join('\n')
  }

  describe('within a namespace', () => {
    it('a path is the older document’s; the other names its owner, and is served when it is free', async () => {
      await applied(
        LOSERS,
        'a-first',
        documentObject(LOSERS, 'a-first', { basePath: '/one', paths: { '/x': 'a', '/a': 'a' } }),
      )
      await apply(
        documentObject(LOSERS, 'b-second', { basePath: '/one', paths: { '/x': 'b', '/b': 'b' } }),
      )
      const errors = await loserErrors(LOSERS, 'b-second')
      expect(errors).toEqual([
        {
          code: 'conflict',
          path: '/spec/document/versions/v1/paths/~1x/get',
          message: expect.stringContaining("belongs to the API 'a-first'"),
        },
      ])
      expect(await answer(`${LOSERS}.test`, '/one/x')).toBe('"a"')
      expect(await answer(`${LOSERS}.test`, '/one/b')).toBe('404')
      const columns = await plane().kubectl(['get', 'apispec', 'b-second', '-n', LOSERS])
      expect(columns.stdout).toMatch(/False\s+False\s+Conflicted/)

      await remove(LOSERS, 'apispec', 'a-first')
      await home.until(LOSERS, 'b-second', 'Ready', 'Ready')
      expect(await answer(`${LOSERS}.test`, '/one/x')).toBe('"b"')
      expect(await answer(`${LOSERS}.test`, '/one/a')).toBe('404')
    })

    it('a document that comes to want the path of another serves on as it was', async () => {
      const second = (...paths: readonly string[]): object =>
        documentObject(LOSERS, 'b-fourth', {
          basePath: '/two',
          paths: Object.fromEntries(paths.map((path) => [path, 'b'])),
        })
      await applied(
        LOSERS,
        'a-third',
        documentObject(LOSERS, 'a-third', { basePath: '/two', paths: { '/a': 'a' } }),
      )
      await applied(LOSERS, 'b-fourth', second('/b'))
      await apply(second('/a', '/c'))
      await loserErrors(LOSERS, 'b-fourth')
      const programmed = await home.until(LOSERS, 'b-fourth', 'Programmed', 'Invalid')
      expect(programmed.message).toContain('generation 1 still serves')
      expect(await answer(`${LOSERS}.test`, '/two/a')).toBe('"a"')
      expect(await answer(`${LOSERS}.test`, '/two/b')).toBe('"b"')
      expect(await answer(`${LOSERS}.test`, '/two/c')).toBe('404')

      await applied(LOSERS, 'b-fourth', second('/b', '/c'))
      expect(await answer(`${LOSERS}.test`, '/two/c')).toBe('"b"')
    })

    it('an id is the older resource’s', async () => {
      await applied(LOSERS, 'a-fifth', documentObject(LOSERS, 'a-fifth', { id: 'twin' }))
      await apply(documentObject(LOSERS, 'b-sixth', { id: 'twin' }))
      expect(await loserErrors(LOSERS, 'b-sixth')).toEqual([
        {
          code: 'conflict',
          path: '/spec/document/id',
          message: `the id 'twin' belongs to ApiSpecification ${LOSERS}/a-fifth: give this one another, or delete the other`,
        },
      ])
      expect(await answer(`${LOSERS}.test`, '/b-sixth/x')).toBe('404')
      await remove(LOSERS, 'apispec', 'a-fifth')
      await home.until(LOSERS, 'b-sixth', 'Ready', 'Ready')
      expect(await answer(`${LOSERS}.test`, '/a-fifth/x')).toBe('404')
      expect(await answer(`${LOSERS}.test`, '/b-sixth/x')).toBe('"b-sixth"')
    })
  })

  describe('a quota of the namespace', () => {
    const annotated = async (quota: string): Promise<void> => {
      const args = ['annotate', '--overwrite', 'namespace', LOSERS, quota]
      expect((await plane().kubectl(args)).code).toBe(0)
    }

    /** The annotation and the documents come by watches of their own: documents are made until one is refused. */
    const untilRefused = async (): Promise<void> => {
      let count = 0
      await eventually(async () => {
        count += 1
        const name = `q-probe-${count}`
        await apply(documentObject(LOSERS, name, { basePath: `/${name}` }))
        const reason = await eventually(async () => {
          const { conditions } = await home.status('apispecifications', LOSERS, name)
          const accepted = conditions.find(({ type }) => type === 'Accepted')
          if (accepted === undefined || accepted.reason === 'Pending')
            throw new Error('not validated yet')
          return accepted.reason
        }, PATIENCE)
        await remove(LOSERS, 'apispec', name)
        expect(reason).toBe('QuotaExceeded')
      }, PATIENCE)
    }

    it('refuses what is new and what grows, takes nothing out, and ends with the annotation', async () => {
      const first = (...paths: readonly string[]): object =>
        documentObject(LOSERS, 'q-first', {
          basePath: '/quota-1',
          paths: Object.fromEntries(paths.map((path) => [path, 'q'])),
        })
      await applied(LOSERS, 'q-first', first('/a'))
      await annotated('gateway.svc.dev/quota=documents=0, routes=0, realms=0')
      await untilRefused()
      await apply(documentObject(LOSERS, 'q-second', { basePath: '/quota-2' }), first('/a', '/b'))
      for (const name of ['q-first', 'q-second']) {
        const accepted = await home.until(LOSERS, name, 'Accepted', 'QuotaExceeded')
        expect(accepted.message).toContain(`the namespace ${LOSERS} may have 0 `)
        await home.until(LOSERS, name, 'Stalled', 'QuotaExceeded')
      }
      expect(await answer(`${LOSERS}.test`, '/quota-1/a')).toBe('"q"')
      expect(await answer(`${LOSERS}.test`, '/quota-1/b')).toBe('404')
      await eventually(async () => {
        const metrics = await (await fetch(`${operator.url}/metrics`)).text()
        expect(metrics).toContain('svc_operator_quota_exceeded{kind="ApiSpecification"} 2\n')
      }, PATIENCE)

      await annotated('gateway.svc.dev/quota-')
      for (const name of ['q-first', 'q-second']) await home.until(LOSERS, name, 'Ready', 'Ready')
      expect(await answer(`${LOSERS}.test`, '/quota-1/b')).toBe('"q"')
    })
  })

  describe('across namespaces', () => {
    it.each([
      [
        'an id',
        { kind: 'id', id: 'the-one', host: undefined },
        {
          path: '/spec/document/id',
          message:
            "the id 'the-one' belongs to an older ApiSpecification of another namespace: give this one another, or delete the other",
        },
      ],
      [
        'a host',
        { kind: 'host', id: undefined, host: 'one.test' },
        {
          path: '/spec/document/host',
          message:
            "the host 'one.test' belongs to documents of another namespace: take another host",
        },
      ],
    ])('%s is the older one’s; the other learns nothing of whose it is', async (_, both, error) => {
      const [winner, loser] = [`a-hidden-${both.kind}`, `b-${both.kind}`]
      const winnerHost = both.host ?? `${WINNERS}.test`
      const loserHost = both.host ?? `${LOSERS}.test`
      await applied(WINNERS, winner, documentObject(WINNERS, winner, both))
      await apply(documentObject(LOSERS, loser, both))
      expect(await loserErrors(LOSERS, loser)).toEqual([{ code: 'conflict', ...error }])
      expect(await answer(loserHost, `/${loser}/x`)).toBe('404')
      expect(await answer(winnerHost, `/${winner}/x`)).toBe(`"${winner}"`)
      await eventually(async () => {
        const events = await plane().kubectl(['events', '-n', LOSERS, '--for', `apispec/${loser}`])
        expect(events.stdout).toContain('Conflicted')
      }, PATIENCE)
      const seen = await whatTheySee()
      expect(seen).not.toContain(WINNERS)
      expect(seen).not.toContain('a-hidden')

      await remove(WINNERS, 'apispec', winner)
      await home.until(LOSERS, loser, 'Ready', 'Ready')
      expect(await answer(loserHost, `/${loser}/x`)).toBe(`"${loser}"`)
      expect(await answer(winnerHost, `/${winner}/x`)).toBe('404')
    })

    it('the uri of a realm is the older one’s; its documents stay where they are', async () => {
      await apply(realmObject(WINNERS, { uri: 'com.wanted' }, 'a-hidden-realm'))
      await applied(
        WINNERS,
        'a-hidden-uri',
        documentObject(WINNERS, 'a-hidden-uri', { realm: 'com.wanted' }),
      )
      await apply(
        realmObject(LOSERS, { uri: 'com.wanted' }, 'b-twin'),
        documentObject(LOSERS, 'b-uri', { realm: 'com.wanted' }),
      )
      const { message } = await home.untilRealm(LOSERS, 'b-twin', 'Accepted', 'Conflicted')
      expect(message).toContain('an older Realm of another namespace')
      const stranger = await home.until(LOSERS, 'b-uri', 'ResolvedRefs', 'RefNotPermitted')
      for (const each of [message, stranger.message]) {
        expect(each).not.toContain(WINNERS)
        expect(each).not.toContain('a-hidden')
      }
      await remove(LOSERS, 'apispec', 'b-uri')
      await remove(LOSERS, 'realm', 'b-twin')
      expect(await answer(`${WINNERS}.test`, '/a-hidden-uri/x')).toBe('"a-hidden-uri"')
    })

    it('with shared hosts it is the paths that are contested, and still nothing is reported', async () => {
      await operator.stop()
      operator = await home.startOperator({ flags: ['--host-ownership', 'shared'] })
      const shared = { host: 'two.test', basePath: '/api' }
      await applied(
        WINNERS,
        'a-hidden-shared',
        documentObject(WINNERS, 'a-hidden-shared', { ...shared, paths: { '/x': 'a' } }),
      )
      const second = (...paths: readonly string[]): object =>
        documentObject(LOSERS, 'b-shared', {
          ...shared,
          paths: Object.fromEntries(paths.map((path) => [path, 'b'])),
        })
      await applied(LOSERS, 'b-shared', second('/b'))
      expect(await answer('two.test', '/api/x')).toBe('"a"')
      expect(await answer('two.test', '/api/b')).toBe('"b"')

      await apply(second('/b', '/x'))
      expect(await loserErrors(LOSERS, 'b-shared')).toEqual([
        {
          code: 'conflict',
          path: '/spec/document/versions/v1/paths/~1x/get',
          message:
            'an older document of another namespace serves this host, path and method already',
        },
      ])
      const seen = await whatTheySee()
      expect(seen).not.toContain(WINNERS)
      expect(seen).not.toContain('a-hidden')
      expect(await answer('two.test', '/api/x')).toBe('"a"')
      await remove(WINNERS, 'apispec', 'a-hidden-shared')
      await home.until(LOSERS, 'b-shared', 'Ready', 'Ready')
      expect(await answer('two.test', '/api/x')).toBe('"b"')
    })
  })
})
