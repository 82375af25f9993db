// Tests the cache of hosts: what it gives is what a search gives, and what is in it is bounded.

import { describe, expect, it } from '@jest/globals'
import { HostCache, type HostHit, lookUpHost } from '../../../language/router/host-lookup.ts'
import type { HostRoutes } from '../../../language/router/host-routes.ts'
import { edit, emptyTable } from '../../../language/router/route-table.ts'
import { collectReleased } from '../../support/collect-released.ts'
import { routeSet } from './routes.ts'

const hitFor = (host: string, hash: number): HostHit<string> => ({
  host,
  hash,
  routes: host,
  captures: [],
  specificity: 1,
  next: undefined,
})

describe('The cache of hosts', () => {
  it('tells hosts of one hash apart, and keeps at most eight of them', () => {
    const cache = new HostCache<string>()
    const hosts = Array.from({ length: 1000 }, (_, index) => `h${index}`)
    for (const host of hosts) {
      cache.add(hitFor(host, 7))
      expect(cache.get(host, 7)?.routes).toBe(host)
    }
    expect(cache.get('other', 7)).toBeUndefined()
    expect(hosts.filter((host) => cache.get(host, 7) !== undefined)).toHaveLength(8)
  })

  it('keeps ten thousand hosts, and a bounded number of more', () => {
    const cache = new HostCache<string>()
    const hostAt = (index: number): string => `h${index}`
    const hashAt = (index: number): number => Math.imul(index, 0x9e3779b1) & 0x3fffffff
    const keptOf = (count: number): number =>
      Array.from({ length: count }, (_, index) => cache.get(hostAt(index), hashAt(index))).filter(
        (hit) => hit !== undefined,
      ).length
    const add = (from: number, to: number): void => {
      for (let index = from; index < to; index++) cache.add(hitFor(hostAt(index), hashAt(index)))
    }
    add(0, 10_000)
    expect(keptOf(10_000)).toBeGreaterThan(9900)
    add(10_000, 200_000)
    expect(keptOf(200_000)).toBeLessThanOrEqual(32_768)
  })

  it('has hosts that match, and no others', () => {
    const editor = edit(emptyTable<string>())
    editor.put(routeSet({ id: 'a', host: ':tenant.acme.com', paths: ['/x'] }))
    const { hosts } = editor.done()
    const added: string[] = []
    class WatchedCache extends HostCache<HostRoutes<string>> {
      override add(hit: HostHit<HostRoutes<string>>): void {
        added.push(hit.host)
        super.add(hit)
      }
    }
    const cache = new WatchedCache()
    const long = `${'x'.repeat(300)}.acme.com`
    for (const host of ['a.acme.com', 'a.other.com', 'a.acme.com', long, 'b.acme.com'])
      lookUpHost(hosts, cache, host)
    expect(added).toEqual(['a.acme.com', 'b.acme.com'])
  })
})

describe('Path tries', () => {
  it('are one for documents of equal paths from the second on, each alone on its host', () => {
    const editor = edit(emptyTable<string>())
    const { routes } = routeSet({ id: 'a', host: 'a', paths: ['/x', '/y/:id'] })
    for (const id of ['first', 'a', 'b']) {
      const set = routeSet({ id, host: id, paths: [] })
      const own = routes.map(({ patterns }, index) => ({ patterns, target: `${id} ${index}` }))
      editor.put({ ...set, routes: own })
    }
    const table = editor.done()
    const routesOf = (host: string): HostRoutes<string> | undefined =>
      lookUpHost(table.hosts, table.cache, host)?.routes
    expect(routesOf('a')?.paths).toBe(routesOf('b')?.paths)
    for (const id of ['first', 'a', 'b'])
      expect(
        routesOf(id)
          ?.ofOnly()
          ?.flat()
          .map(({ target }) => target),
      ).toEqual([`${id} 0`, `${id} 1`])
  })

  it('keeps nothing of the request targets that hosts were cut out of', async () => {
    const editor = edit(emptyTable<string>())
    editor.put(routeSet({ id: 'a', host: ':tenant.acme.com', paths: ['/x'] }))
    const { hosts, cache } = editor.done()
    const usedAfter = async (from: number, to: number): Promise<number> => {
      for (let index = from; index < to; index++) {
        const host = `tenant-number-${index}.acme.com`
        // As the parser of HTTP gives it: one flat text.
        const target = Buffer.from(`http://${host}/${'x'.repeat(10_000)}`).toString('latin1')
        const cut = target.slice('http://'.length, 'http://'.length + host.length)
        expect(lookUpHost(hosts, cache, cut)?.captures).toEqual([`tenant-number-${index}`])
      }
      await collectReleased()
      return process.memoryUsage().heapUsed
    }
    const before = await usedAfter(0, 100)
    expect((await usedAfter(100, 3100)) - before).toBeLessThan(3000 * 3000)
  })
})

describe('The path trie', () => {
  it('is shared with documents that come after a collection, too', async () => {
    const like = routeSet({ id: 'a', host: 'a.test', paths: ['/x', '/y/[:z]'] })
    let table = emptyTable<string>()
    const put = (id: string): void => {
      const editor = edit(table)
      // As the store does: equal patterns are one list.
      const { routes } = like
      editor.put({ ...routeSet({ id, host: `${id}.test`, paths: ['/x'] }), routes })
      table = editor.done()
    }
    const pathsOf = (id: string): unknown =>
      lookUpHost(table.hosts, table.cache, `${id}.test`)?.routes.paths
    put('first')
    put('a')
    await collectReleased()
    put('b')
    expect(pathsOf('b')).toBeDefined()
    expect(pathsOf('b')).toBe(pathsOf('a'))
  })
})
