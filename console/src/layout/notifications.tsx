import '@mantine/notifications/styles.layer.css'
import { Notifications } from '@mantine/notifications'

/** Notifications, placed where they cover no buttons. */
export default function PageNotifications() {
  return <Notifications position="top-center" />
}
