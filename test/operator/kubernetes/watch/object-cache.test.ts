import { describe, expect, it } from '@jest/globals'
import { Items } from '../../../../operator/kubernetes/watch/object-cache.ts'
import type { ValueMap } from '../../../../language/expression/value.ts'

const object = (name: string, version: number, more: ValueMap = {}): ValueMap => ({
  metadata: { namespace: 'shop', name, uid: `uid-${name}`, resourceVersion: String(version) },
  ...more,
})

const reading = (): { items: Items<ValueMap>; read: string[]; unread: string[] } => {
  const read: string[] = []
  const unread: string[] = []
  const items = new Items<ValueMap>({
    read: (given) => {
      if (given['isBad'] === true) throw new Error('bad')
      if (given['isLeft'] === true) return undefined
      read.push(JSON.stringify(given['metadata']))
      return { of: given['metadata'] ?? null }
    },
    onUnread: (key) => unread.push(key),
  })
  return { items, read, unread }
}

const list = (
  items: Pick<Items<unknown>, 'startList'>,
  objects: readonly ValueMap[],
  isAnotherPast = false,
): void => {
  const intake = items.startList(isAnotherPast)
  for (const each of objects) intake.take([each])
  intake.finish()
}

describe('what is kept of objects', () => {
  it('is another map after every change, with the same values for what has not changed', () => {
    const { items, read } = reading()
    list(items, [object('a', 1), object('constructor', 1), object('__proto__', 1)])
    expect(items.current.size).toBe(0)
    expect(items.publish()).toBe(true)
    const before = items.current
    expect([...before.keys()]).toEqual(['shop/a', 'shop/constructor', 'shop/__proto__'])

    list(items, [object('a', 1), object('constructor', 2), object('b', 3)])
    expect(items.current).toBe(before)
    expect(items.publish()).toBe(true)
    expect(items.current).not.toBe(before)
    expect([...items.current.keys()]).toEqual(['shop/a', 'shop/constructor', 'shop/b'])
    expect(items.current.get('shop/a')).toBe(before.get('shop/a'))
    expect(read).toHaveLength(5)
    expect(items.publish()).toBe(false)
  })

  it('is read with what was kept of that name before', () => {
    const seen: unknown[] = []
    const items = new Items<string>({
      read: (given, before) => {
        seen.push(before)
        return JSON.stringify(given['word'])
      },
      onUnread: () => undefined,
    })
    list(items, [object('a', 1, { word: 'x' })])
    items.put(object('a', 2, { word: 'y' }))
    list(items, [object('a', 3, { word: 'z' }), object('b', 1)])
    items.remove(object('a', 4))
    items.put(object('a', 5))
    expect(seen).toEqual([undefined, '"x"', '"y"', undefined, undefined])
  })

  it('stays the same map where a list tells nothing new', () => {
    const { items } = reading()
    list(items, [object('a', 1), object('b', 1)])
    items.publish()
    list(items, [object('b', 1), object('a', 1)])
    expect(items.publish()).toBe(false)
  })

  it('is read again in another history, where equal versions mean nothing', () => {
    const { items, read } = reading()
    list(items, [object('a', 1)])
    list(items, [object('a', 1)], true)
    expect(read).toHaveLength(2)
  })

  it('is another object after it was deleted and made again', () => {
    const { items } = reading()
    items.put(object('a', 1))
    const again = {
      metadata: { namespace: 'shop', name: 'a', uid: 'another', resourceVersion: '1' },
    }
    list(items, [again])
    items.publish()
    expect(items.current.get('shop/a')).toEqual({ of: again.metadata })
  })

  it.each(['isBad', 'isLeft'])('goes when the object becomes one that %s', (flag) => {
    const { items, unread } = reading()
    items.put(object('a', 1))
    items.publish()
    items.put(object('a', 2, { [flag]: true }))
    expect(items.publish()).toBe(true)
    expect(items.current.size).toBe(0)
    expect(unread).toEqual(flag === 'isBad' ? ['shop/a'] : [])
    list(items, [object('a', 2, { [flag]: true })])
    expect(items.publish()).toBe(false)
  })

  it('is not changed by a list that does not end', () => {
    const { items } = reading()
    items.put(object('a', 1))
    items.publish()
    items.startList(false).take([object('b', 1)])
    expect(items.publish()).toBe(false)
    expect([...items.current.keys()]).toEqual(['shop/a'])
  })

  it('follows events; what has no name is left out', () => {
    const { items } = reading()
    items.put({ metadata: { name: 'cluster', resourceVersion: '1' } })
    items.put({ metadata: {} })
    items.put({})
    items.remove(object('unknown', 1))
    expect(items.publish()).toBe(true)
    expect([...items.current.keys()]).toEqual(['/cluster'])
    items.remove({ metadata: { name: 'cluster' } })
    expect(items.publish()).toBe(true)
    expect(items.current.size).toBe(0)
  })
})

describe('what says the same as before', () => {
  const saying = () => {
    const renewed: string[] = []
    const items = new Items<string>({
      read: ({ word = '', mark = '' }) => `${JSON.stringify(word)} ${JSON.stringify(mark)}`,
      onUnread: () => undefined,
      hasChanged: (before, now) => before.split(' ')[0] !== now.split(' ')[0],
      onRenewed: (now) => renewed.push(now),
    })
    const said = (): readonly string[] => [...items.current.values()]
    return { items, renewed, said }
  }

  it.each<[string, (items: Items<string>, objects: readonly ValueMap[]) => void]>([
    [
      'by a watch',
      (items, objects) => {
        for (const each of objects) items.put(each)
      },
    ],
    [
      'by a list',
      (items, objects) => {
        list(items, objects)
      },
    ],
  ])('%s: is there, and nothing is published', (_, tell) => {
    const { items, renewed, said } = saying()
    tell(items, [object('a', 1, { word: 1 }), object('b', 1, { word: 1 })])
    expect(items.publish()).toBe(true)
    const before = items.current
    tell(items, [object('a', 2, { word: 1, mark: 2 }), object('b', 1, { word: 1 })])
    expect(items.publish()).toBe(false)
    expect(renewed).toEqual(['1 2'])
    expect(said()).toEqual(['1 2', '1 ""'])
    expect(items.current).not.toBe(before)
    expect(items.current).toBe(items.current)
  })

  it.each<[string, readonly ValueMap[], boolean]>([
    ['one that is new', [object('a', 2, { word: 1, mark: 2 }), object('c', 1, { word: 1 })], true],
    ['one that says something else', [object('a', 2, { word: 1, mark: 2 }), object('b', 2)], true],
    ['one that is gone', [object('a', 2, { word: 1, mark: 2 })], true],
    ['one of another past', [object('a', 2, { word: 2 }), object('b', 1, { word: 1 })], true],
    ['nothing', [object('a', 1, { word: 1 }), object('b', 1, { word: 1 })], false],
  ])('beside %s in a list', (_, objects, isPublished) => {
    const { items, said } = saying()
    list(items, [object('a', 1, { word: 1 }), object('b', 1, { word: 1 })])
    items.publish()
    const before = said()
    list(items, objects)
    // What is not told yet is not seen.
    expect(said()).toEqual(before)
    expect(items.publish()).toBe(isPublished)
    expect(items.current.size).toBe(objects.length)
  })

  it('one that is gone, or changed, right after is reported', () => {
    const { items, renewed } = saying()
    list(items, [object('a', 1, { word: 1 })])
    items.publish()
    items.put(object('a', 2, { word: 1, mark: 2 }))
    items.put(object('a', 3, { word: 2 }))
    expect(items.publish()).toBe(true)
    items.put(object('a', 4, { word: 2, mark: 2 }))
    items.remove(object('a', 5))
    expect(items.publish()).toBe(true)
    expect(items.current.size).toBe(0)
    expect(renewed).toHaveLength(2)
  })
})

it('what a watch says is deleted is reported as it was at its end; what a list lacks is not reported', () => {
  const deleted: string[] = []
  const items = new Items<string>({
    read: ({ word = '' }) => (word === 'other' ? undefined : JSON.stringify(word)),
    onUnread: () => undefined,
    onDeleted: (last) => deleted.push(last),
  })
  list(
    items,
    ['a', 'b', 'c', 'd'].map((name) => object(name, 1, { word: 1 })),
  )
  items.remove(object('a', 2, { word: 2 }))
  items.remove(object('a', 3, { word: 3 }))
  // Of no class of ours any more, as it ended.
  items.remove(object('b', 2, { word: 'other' }))
  list(items, [object('d', 1, { word: 1 })])
  items.publish()
  expect([...items.current.keys()]).toEqual(['shop/d'])
  expect(deleted).toEqual(['2'])
})
