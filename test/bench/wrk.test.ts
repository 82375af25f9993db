import { describe, expect, it } from '@jest/globals'
import { parseWrk, wrkCommand, wrkScript } from './wrk.ts'

const output = (result: string): string => `Running 1s test @ http://127.0.0.1:1/v1/static
  1 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.20ms    1.00ms  20.00ms   90.00%
Requests/sec:  40000.10
${result}
`

describe('parseWrk', () => {
  it('reads what the script prints', () => {
    expect(parseWrk(output('RESULT 40012 1002345 1203.000000 5600.500000 3 0'))).toEqual({
      requests: 40012,
      seconds: 1.002345,
      p50Ms: 1.203,
      p99Ms: 5.6005,
      socketErrors: 3,
    })
  })

  it.each([
    ['nothing at all', '', 'wrk gave no result'],
    ['no result', output(''), 'wrk gave no result'],
    ['responses that are errors', output('RESULT 10 1000000 1.0 2.0 0 7'), '7 of 10 responses'],
  ])('throws for %s', (_, text, message) => {
    expect(() => parseWrk(text)).toThrow(message)
  })
})

const load = { url: 'http://127.0.0.1:1/v1/static', seconds: 3, connections: 64 }

describe('wrkScript', () => {
  it('leaves the request as it is when nothing is drawn', () => {
    expect(wrkScript(load)).not.toMatch(/function (request|delay)/)
  })

  it('draws among all documents and paths, counting from 0', () => {
    const script = wrkScript({ ...load, random: { documents: 10_000, paths: 20 } })
    expect(script).toContain('"host-" .. math.random(0, 9999) .. ".bench.test"')
    expect(script).toContain('"/v1/resource-" .. math.random(0, 19) .. "/7"')
  })

  it('sends more headers as they are', () => {
    const script = wrkScript({ ...load, headers: { Cookie: 'a="b"; c=\\d' } })
    expect(script).toContain('wrk.headers["Cookie"] = [==[a="b"; c=\\d]==]')
  })

  it('posts a JSON text as it is', () => {
    const script = wrkScript({ ...load, post: '{"args":["]]"]}' })
    expect(script).toContain('wrk.method = "POST"')
    expect(script).toContain('wrk.body = [==[{"args":["]]"]}]==]')
  })

  it('pauses for up to twice the mean', () => {
    expect(wrkScript({ ...load, pauseMs: 12.4 })).toContain('math.random(0, 25)')
  })
})

describe('wrkCommand', () => {
  it('is one thread, with the URL at its end', () => {
    const line = wrkCommand(load, '/tmp/load.lua')
    expect(line).toEqual(expect.arrayContaining(['wrk', '-t1', '-c64', '-d3s', '/tmp/load.lua']))
    expect(line.at(-1)).toBe(load.url)
  })
})
