import { describe, expect, it } from '@jest/globals'
import { ApiError, TYPES, type WatchEvent } from '../../../../operator/kubernetes/client/api.ts'
import { readWatchEvents } from '../../../../operator/kubernetes/client/watch-stream.ts'

const read = async (text: string, maxLineBytes?: number): Promise<WatchEvent[]> => {
  const events: WatchEvent[] = []
  const body = (async function* () {
    await Promise.resolve()
    yield Buffer.from(text)
  })()
  for await (const event of readWatchEvents(TYPES.secrets, body, maxLineBytes)) events.push(event)
  return events
}

const failure = async (text: string, maxLineBytes?: number): Promise<ApiError> => {
  try {
    await read(text, maxLineBytes)
  } catch (error) {
    if (error instanceof ApiError) return error
  }
  throw new Error('it was no ApiError')
}

describe('events of a watch', () => {
  it('are read as they come', async () => {
    const object = '{"metadata":{"name":"constructor","resourceVersion":"5"},"__proto__":{"a":1}}'
    const events = await read(
      `{"type":"ADDED","object":${object}}\n{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9"}}}\n`,
    )
    expect(events).toEqual([
      { type: 'ADDED', object: JSON.parse(object) as unknown },
      { type: 'BOOKMARK', resourceVersion: '9' },
    ])
    expect(Object.hasOwn(events[0]?.type === 'ADDED' ? events[0].object : {}, '__proto__')).toBe(
      true,
    )
  })

  it.each([
    ['half a line', '{"type":"ADDED","object":{"data":"c2VjcmV0"'],
    ['half a line and its end', '{"type":"ADDED","object":{"data":"c2VjcmV0"\n'],
    ['no object', '{"type":"ADDED"}\n'],
    ['a list', '["c2VjcmV0"]\n'],
    ['an unknown type', '{"type":"constructor","object":{"metadata":{"resourceVersion":"1"}}}\n'],
    ['no type', '{"object":{"metadata":{"resourceVersion":"1"}}}\n'],
    ['no version', '{"type":"ADDED","object":{"metadata":{},"data":"c2VjcmV0"}}\n'],
    ['a bookmark without a version', '{"type":"BOOKMARK","object":{}}\n'],
    ['no UTF-8', '\xff\n'.replace('\xff', '\uFFFD').concat('{\n')],
  ])('that are %s end it, without a word of theirs', async (_, text) => {
    const error = await failure(text)
    expect(error).toMatchObject({ status: 0, reason: 'Unreadable', cause: undefined })
    expect(error.message).not.toContain('c2VjcmV0')
  })

  it('that are too long end it', async () => {
    expect((await failure(`${'x'.repeat(20)}\n`, 10)).message).toContain('longer than 10 bytes')
  })

  it.each([
    [{ code: 410, reason: 'Expired', message: 'too old resource version: 1 (2)' }, 410, 'Expired'],
    [{ code: 500, reason: 'InternalError', message: 'etcd' }, 500, 'InternalError'],
    [{ message: 'no code' }, 500, ''],
  ])('that say an error throw it: %j', async (status, code, reason) => {
    const object = { kind: 'Status', ...status }
    const error = await failure(`${JSON.stringify({ type: 'ERROR', object })}\n`)
    expect(error).toMatchObject({ status: code, reason })
    expect(error.message).toContain(status.message)
  })
})
