import { Center, Loader } from '@mantine/core'
import { useTranslation } from 'react-i18next'

/** Loading indicator. */
export function Loading() {
  const { t } = useTranslation()
  return (
    <Center flex={1} mih={200} role="status" aria-label={t('loading')}>
      <Loader type="dots" />
    </Center>
  )
}
