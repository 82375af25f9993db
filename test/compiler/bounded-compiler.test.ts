import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from '@jest/globals'
import { BoundedCompiler, type CompileRequest } from '../../compiler/bounded-compiler.ts'
import { fileBeside } from '../../compiler/compile-thread.ts'
import { type CompileLimits, limitsVersion } from '../../compiler/limits.ts'
import { eventually } from '../support/eventually.ts'
import { createManualClock } from '../support/manual-clock.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { doAsTold, type Done, large, refuse } from './odd-work.ts'

const LIMITS: CompileLimits = { maxRoutes: 7, memoryMb: 64, timeMs: 60_000 }

const open = new Set<BoundedCompiler<Done>>()

afterEach(async () => {
  await Promise.all([...open].map((compiler) => compiler.close()))
  open.clear()
})

const aCompiler = () => {
  const clock = createManualClock()
  const compiler = new BoundedCompiler<Done>({
    work: doAsTold,
    entry: fileBeside(import.meta.url, 'odd-work-program'),
    limits: LIMITS,
    timers: clock,
    refuse,
  })
  open.add(compiler)
  return { compiler, clock }
}

const request = (document: unknown, more: Partial<CompileRequest> = {}): CompileRequest => ({
  document,
  realm: undefined,
  namespace: 'shop',
  purpose: 'edit',
  digest: () => JSON.stringify(document),
  ...more,
})

const OPERATION = { get: {} }
const pathsOf = (count: number) => ({
  versions: {
    v: { paths: Object.fromEntries(Array.from({ length: count }, (_, i) => [`/${i}`, OPERATION])) },
  },
})

describe('where a document is compiled', () => {
  const cyclic: Record<string, unknown> = {}
  cyclic['self'] = [cyclic, large('x')]

  it.each<[string, unknown, 'here' | 'elsewhere']>([
    ['a small one: here', { do: 'x' }, 'here'],
    ['what is no map: here', 'x'.repeat(100_000), 'here'],
    ['one of 64 KiB: here', { do: 'x'.repeat(65_536 - '{"do":""}'.length) }, 'here'],
    [
      'one of a byte more: in the thread',
      { do: 'x'.repeat(65_537 - '{"do":""}'.length) },
      'elsewhere',
    ],
    ['one of 1,000 routes: here', pathsOf(1000), 'here'],
    ['one of 1,001 routes: in the thread', pathsOf(1001), 'elsewhere'],
    [
      'one over a bound of the language: here, where it is refused at a glance',
      large('x'.repeat(5_000_000)),
      'here',
    ],
    ['one that refers to itself: here, too', cyclic, 'here'],
  ])('%s', async (_, document, place) => {
    const { compiler } = aCompiler()
    const here = doAsTold({ document: {}, realm: undefined }, LIMITS).thread
    const { did, thread } = await compiler.compile(request(document))
    expect([did.endsWith('within 7'), thread === here]).toEqual([true, place === 'here'])
  })

  it('what is compiled here is there at once', () => {
    expect(aCompiler().compiler.compile(request({ do: 'x' }))).not.toBeInstanceOf(Promise)
  })

  it('one thread for all, which goes after 30 seconds without work', async () => {
    const { compiler, clock } = aCompiler()
    const threads = async (...documents: readonly string[]): Promise<ReadonlySet<number>> => {
      const done = await Promise.all(
        documents.map(async (each) => compiler.compile(request(large(each)))),
      )
      return new Set(done.map(({ thread }) => thread))
    }
    const first = await threads('a', 'b', 'c')
    clock.advance(29_999)
    const second = await threads('d')
    clock.advance(30_000)
    const third = await threads('e')
    expect([first.size, second, [...third][0] === [...first][0]]).toEqual([1, first, false])
  })
})

describe('too expensive', () => {
  it.each([
    ['memory', 'fill'],
    ['time', 'loop'],
  ])('by %s: refused, remembered, and others go on', async (limit, told) => {
    const { compiler, clock } = aCompiler()
    const result = compiler.compile(request(large(told)))
    const next = compiler.compile(request(large('next')))
    if (limit === 'time') await clock.run(60_000)
    const { did } = await result
    expect(did).toMatch(
      /^too_expensive: .* 64 MB of memory or 60 seconds.*split it.*compile-seconds/,
    )
    expect((await next).did).toBe('next within 7')
    // Without another try, which would take as long.
    expect(compiler.compile(request(large(told)))).toMatchObject({ did })
  })

  it.each([
    ['these limits: not tried again', limitsVersion(LIMITS), true],
    ['other limits: tried again', limitsVersion({ ...LIMITS, memoryMb: 65 }), false],
  ])('as was recorded for %s', async (_, limits, isRefused) => {
    const { compiler } = aCompiler()
    const quarantined = { digest: 'd', limits }
    const { did } = await compiler.compile(request(large('x'), { digest: () => 'd', quarantined }))
    expect(did.startsWith('too_expensive')).toBe(isRefused)
  })

  it('as was recorded for another content: tried', async () => {
    const { compiler } = aCompiler()
    const quarantined = { digest: 'd', limits: compiler.limitsVersion }
    const { did } = await compiler.compile(request(large('x'), { quarantined }))
    expect(did).toBe('x within 7')
  })

  it('what serves has more time', async () => {
    const { compiler, clock } = aCompiler()
    const results: string[] = []
    const result = Promise.resolve(compiler.compile(request(large('loop'), { purpose: 'serving' })))
    void result.then(({ did }) => results.push(did))
    await clock.run(359_999)
    expect(results).toEqual([])
    await clock.run(1)
    expect((await result).did).toMatch(/^too_expensive/)
  })
})

describe('the queue', () => {
  it.each<[string, readonly Partial<CompileRequest>[]]>([
    ['namespaces', [{ namespace: 'a' }, { namespace: 'b' }, { namespace: 'c' }]],
    ['purposes', [{ purpose: 'edit' }, { purpose: 'review' }, { purpose: 'serving' }]],
  ])('takes %s in turn', async (_, [a, b, c]) => {
    const { compiler } = aCompiler()
    const order: string[] = []
    const ask = async (more: Partial<CompileRequest> | undefined, name: string): Promise<void> => {
      await compiler.compile(request(large(name), more))
      order.push(name)
    }
    const many = ['a1', 'a2', 'a3', 'a4'].map((name) => ask(a, name))
    await Promise.all([...many, ask(b, 'b1'), ask(b, 'b2'), ask(c, 'c1')])
    expect(order).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'])
  })

  it.each<[string, readonly string[], string]>([
    ['two of a namespace', ['a', 'a'], 'a'],
    ['eight of all', ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'], 'i'],
  ])('has room for reviews, %s, and then for others alone', async (_, namespaces, more) => {
    const { compiler } = aCompiler()
    const review = async (namespace: string, name: string): Promise<string> => {
      const { did } = await compiler.compile(request(large(name), { namespace, purpose: 'review' }))
      return did
    }
    const reviews = namespaces.map((namespace) => review(namespace, 'x'))
    await expect(review(more, 'more')).rejects.toMatchObject({ code: 'overloaded' })
    const edit = compiler.compile(request(large('edit'), { namespace: more }))
    expect((await edit).did).toBe('edit within 7')
    await Promise.all(reviews)
    expect(await review(more, 'later')).toBe('later within 7')
  })

  it('does not wait for what runs once nothing waits for it, and has room again', async () => {
    const { compiler } = aCompiler()
    const timeUp = new AbortController()
    const { signal } = timeUp
    const reviews = ['loop', 'next'].map(async (name) =>
      compiler.compile(request(large(name), { purpose: 'review', signal })),
    )
    timeUp.abort(new Error('too late'))
    for (const each of await Promise.allSettled(reviews))
      expect(each).toMatchObject({ reason: { message: 'too late' } })
    const later = compiler.compile(request(large('x'), { purpose: 'review' }))
    const outcome = Promise.allSettled([later])
    await compiler.close()
    // It was queued.
    expect(await outcome).toMatchObject([{ reason: { code: 'closed' } }])
  })

  it('leaves out what is not waited for any more', async () => {
    const { compiler } = aCompiler()
    const giveUp = new AbortController()
    const first = compiler.compile(request(large('first')))
    const left = compiler.compile(request(large('left'), { signal: giveUp.signal }))
    giveUp.abort(new Error('too late'))
    await expect(left).rejects.toThrow('too late')
    await expect(
      compiler.compile(request(large('another'), { signal: giveUp.signal })),
    ).rejects.toThrow('too late')
    expect((await first).did).toBe('first within 7')
  })

  it('a bug rejects, and is no verdict on the document', async () => {
    const { compiler } = aCompiler()
    await expect(compiler.compile(request(large('throw')))).rejects.toThrow('a bug')
    await expect(compiler.compile(request(large('throw')))).rejects.toThrow('a bug')
    expect((await compiler.compile(request(large('x')))).did).toBe('x within 7')
  })

  it('a thread that does not end does not delay other work for ever', async () => {
    const { compiler, clock } = aCompiler()
    await using directory = await makeTempDir()
    const file = join(directory.path, 'hangs')
    const result = compiler.compile(request(large(`hang ${file}`)))
    const next = Promise.allSettled([compiler.compile(request(large('next')))])
    await eventually(() => access(file))
    await clock.run(60_000)
    expect((await result).did).toMatch(/^too_expensive/)
    await clock.run(10_000)
    expect(await next).toMatchObject([
      { reason: { message: expect.stringContaining('does not end: restart') } },
    ])
    expect(compiler.compile(request({ do: 'small' }))).toMatchObject({ did: 'small within 7' })
  })

  it('closing ends what runs and what waits', async () => {
    const { compiler } = aCompiler()
    const results = ['loop', 'x'].map(async (told) => compiler.compile(request(large(told))))
    const outcomes = Promise.allSettled(results)
    await compiler.close()
    for (const outcome of await outcomes) expect(outcome).toHaveProperty('reason.code', 'closed')
  })
})
