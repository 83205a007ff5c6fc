import '@mantine/notifications/styles.layer.css'
import { Notifications } from '@mantine/notifications'

/** Where it is told, for a while, what was done and what did not work: out of the way of what is pressed. */
export default function Notices() {
  return <Notifications position="top-center" />
}
