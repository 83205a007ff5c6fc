import { onTestFinished } from 'vitest'
import type { Notification } from '../../src/model/notification.js'
import type { World } from './world.js'

/** Listens until the test ends; the result returns the received notifications. */
export function hearNotifications({ app }: World): () => readonly Notification[] {
  const heard: Notification[] = []
  onTestFinished(app.ctx.notifications.listen((notification) => heard.push(notification)))
  return () => heard
}
