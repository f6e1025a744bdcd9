"""Programs that use lanewise the way its users do: through the public interface only."""
