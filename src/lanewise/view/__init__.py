"""Looking at words, instructions and images: tables for people, documents for machines."""
