import { Button } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'

/** Downloads a CSV file. `href`: a URL of the service. */
export function ExportLink({ href, of }: { href: string; of: string }) {
  const { t } = useTranslation('analytics')
  return (
    <Button
      component="a"
      href={href}
      download
      variant="default"
      size="xs"
      leftSection={<IconDownload aria-hidden size={16} />}
      aria-label={t('exportOf', { of })}
    >
      CSV
    </Button>
  )
}
