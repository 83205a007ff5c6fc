// biome-ignore-all format: recorded; `npx vitest run test/interfaces/description/examples.test.ts -u` records again
import type { Examples } from '../../../http/description/examples.js'

export const examples: Examples = {
  "shortLinks.create": [
    {
      "name": "example",
      "body": {"redirect_url": "https://shop.example/?utm_campaign=spring", "code": "spring"},
      "status": 201,
      "answer": {
        "success": true,
        "shortlink": {
          "code": "spring",
          "short_url": "https://parley.example/s/spring",
          "redirect_url": "https://shop.example/?utm_campaign=spring"
        }
      }
    },
    {
      "name": "already_taken",
      "body": {"redirect_url": "https://shop.example/?utm_campaign=spring", "code": "spring"},
      "status": 409,
      "answer": {
        "success": false,
        "error": "Already taken",
        "message": "The code \"spring\" is taken: choose another one, or leave it out"
      }
    }
  ],
  "shortLinks.list": [
    {
      "name": "example",
      "status": 200,
      "answer": {
        "success": true,
        "shortlinks": [
          {
            "code": "spring",
            "short_url": "https://parley.example/s/spring",
            "redirect_url": "https://shop.example/?utm_campaign=spring",
            "clicks": 0,
            "created_at": "2026-03-02T09:00:00.000Z"
          }
        ],
        "pagination": {
          "currentPage": 1,
          "totalPages": 1,
          "totalShortLinks": 1,
          "shortLinksPerPage": 50,
          "hasNextPage": false,
          "hasPrevPage": false
        }
      }
    },
    {
      "name": "invalid_parameter",
      "query": {"limit": "0"},
      "status": 400,
      "answer": {
        "success": false,
        "error": "Invalid parameter",
        "message": "limit must be a whole number from 1 to 100, not \"0\""
      }
    }
  ]
}
