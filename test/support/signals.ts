import { onTestFinished } from 'vitest'
import type { Signal } from '../../src/model/notification.js'
import type { World } from './world.js'

/** Listens until the test ends; the result tells what has been heard. */
export function hearSignals({ app }: World): () => readonly Signal[] {
  const heard: Signal[] = []
  onTestFinished(app.ctx.signals.listen((signal) => heard.push(signal)))
  return () => heard
}
