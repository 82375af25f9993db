import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import {
  BEATS,
  createEventStreams,
  type OpenEventStream,
} from '../../../../dataplane/http/sse/registry.ts'

const streamOf = () => ({ beat: jest.fn(), shutDown: jest.fn() }) satisfies OpenEventStream

beforeEach(() => {
  jest.useFakeTimers()
})

afterEach(() => {
  jest.useRealTimers()
})

describe('the streams of a process', () => {
  it('share one timer, which is there while they are', () => {
    const streams = createEventStreams()
    expect(jest.getTimerCount()).toBe(0)
    const [one, two] = [streamOf(), streamOf()]
    streams.add(one)
    jest.advanceTimersByTime(7000)
    streams.add(two)
    expect([jest.getTimerCount(), streams.size]).toEqual([1, 2])
    jest.advanceTimersByTime(8000)
    expect([one.beat.mock.calls.length, two.beat.mock.calls.length]).toEqual([BEATS, 8])
    streams.remove(one)
    streams.remove(one)
    jest.advanceTimersByTime(1000)
    expect([one.beat.mock.calls.length, two.beat.mock.calls.length]).toEqual([BEATS, 9])
    streams.remove(two)
    expect([jest.getTimerCount(), streams.size]).toEqual([0, 0])
    streams.add(one)
    expect(jest.getTimerCount()).toBe(1)
  })

  it('all are ended, also those that leave at that', () => {
    const streams = createEventStreams()
    const all = Array.from({ length: 100 }, () => {
      const stream = streamOf()
      stream.shutDown.mockImplementation(() => {
        streams.remove(stream)
      })
      streams.add(stream)
      return stream
    })
    expect(streams.isEnding).toBe(false)
    streams.endAll()
    streams.endAll()
    expect([streams.isEnding, streams.size, jest.getTimerCount()]).toEqual([true, 0, 0])
    for (const { shutDown } of all) expect(shutDown).toHaveBeenCalledTimes(1)
  })

  it('tell of clients that were cut off', () => {
    const onCutOff = jest.fn()
    const streams = createEventStreams({ onCutOff })
    streams.cutOff()
    expect(onCutOff).toHaveBeenCalledTimes(1)
  })
})
