import { Text, VisuallyHidden } from '@mantine/core'
import { IconMapPinFilled } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { asObject, asText } from '../../../../../shared/json.js'
import type { ThreadMessage } from '../../window.js'
import classes from './body.module.css'

/** A location, with a link to a map. */
export function Place({ message }: { message: ThreadMessage }) {
  const { t } = useTranslation('thread')
  const { latitude, longitude, name, address } = asObject(message.content)
  const [north, east] = [Number(latitude), Number(longitude)]
  const hasCoordinates = asText(latitude) !== null && Number.isFinite(north) && Number.isFinite(east)
  const label = asText(name) ?? t('kinds.location')
  const card = (
    <>
      <span className={classes.map}>
        <IconMapPinFilled aria-hidden size={30} />
      </span>
      <Text size="sm" fw={600} lineClamp={2}>
        {label}
      </Text>
      <Text size="xs" className={classes.dim}>
        {asText(address) ?? (hasCoordinates ? `${north.toFixed(5)}, ${east.toFixed(5)}` : message.message)}
      </Text>
    </>
  )
  if (!hasCoordinates) return <span className={classes.box}>{card}</span>
  const map = `https://www.openstreetmap.org/?mlat=${north}&mlon=${east}#map=16/${north}/${east}`
  return (
    <a href={map} target="_blank" rel="noopener noreferrer" className={classes.box}>
      {card}
      <VisuallyHidden>{t('map', { what: label })}</VisuallyHidden>
    </a>
  )
}
