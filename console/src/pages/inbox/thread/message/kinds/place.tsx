import { Text, VisuallyHidden } from '@mantine/core'
import { IconMapPinFilled } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import type { ContentOf } from '../../../../../../../src/model/messages/shown/schemas.js'
import classes from './body.module.css'

/** A location, with a link to a map. `text`: shown if neither address nor coordinates are known. */
export function Place({ content, text }: { content: ContentOf<'location'>; text: string }) {
  const { t } = useTranslation('thread')
  const { latitude, longitude, name, address } = content
  const label = name ?? t('kinds.location')
  const isOnMap = latitude !== null && longitude !== null
  const card = (
    <>
      <span className={classes.map}>
        <IconMapPinFilled aria-hidden size={30} />
      </span>
      <Text size="sm" fw={600} lineClamp={2}>
        {label}
      </Text>
      <Text size="xs" className={classes.dim}>
        {address ?? (isOnMap ? `${latitude.toFixed(5)}, ${longitude.toFixed(5)}` : text)}
      </Text>
    </>
  )
  if (!isOnMap) return <span className={classes.box}>{card}</span>
  const map = `https://www.openstreetmap.org/?mlat=${latitude}&mlon=${longitude}#map=16/${latitude}/${longitude}`
  return (
    <a href={map} target="_blank" rel="noopener noreferrer" className={classes.box}>
      {card}
      <VisuallyHidden>{t('map', { what: label })}</VisuallyHidden>
    </a>
  )
}
